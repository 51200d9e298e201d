// SPDX-License-Identifier: Apache-2.0
//
// Linked with one object a public header: that it links is the test.

int main() { return 0; }
