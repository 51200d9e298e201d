// SPDX-License-Identifier: Apache-2.0
//
// Linked with the objects that include the public headers: that it links is the test.

int main() { return 0; }
