// SPDX-License-Identifier: Apache-2.0
//
// The error function of f64, its complement and the cube root by polynomials on 16 pieces of their
// range, whose coefficients permutations fetch. Levels without them have those of block_exp_f64.cc
// and block_trig_f64.cc. Largest errors seen, over some 10^7 arguments: Erf 0.86, Erfc 1.24, Cbrt
// 0.54 ULP.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/double_groups-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// f(c + t) = f(c) + t P(t) on each piece. The columns are c, f(c) and P's coefficients, from the
// constant one on. Each c is such that f(c) and the first coefficient are all but numbers of f64
// themselves, so that nothing is lost by rounding them.

// P(t), where P's last coefficients go two by two, since a chain of dependent instructions for each
// takes longer; the first ones do not, and nothing is lost there.
template <const auto& kColumns>
PJRT_INLINE DoubleGroup Slope(const EntryGroup<kColumns>& entries, DoubleGroup t) {
  constexpr int kLast = kColumns.kCount - 3;  // the highest power of t
  const DoubleGroup square = t * t;
  constexpr int kEven = kLast / 2 * 2;
  DoubleGroup p = entries[2 + kEven];
  if (kEven < kLast) p = Fused(entries[2 + kLast], t, p);
#pragma GCC unroll 16
  for (int i = kEven - 2; i > 0; i -= 2)
    p = Fused(p, square, Fused(entries[3 + i], t, entries[2 + i]));
  return Fused(Fused(p, t, entries[3]), t, entries[2]);
}

// Around multiples of the pieces' width, to 2^-56. Around 0 erf(t) = t + t P(t).
constexpr double kErfPieces = 2.605, kErfIsOne = 5.95;
constexpr Columns<15> kErf = {
    {{{0, 0x1.1b11920561c80p-2, 0x1.6da8914b78236p-1, 0x1.26e0afc5239fbp+0, 0x1.89216a81f046cp+0,
       0x1.eb7b1178ef0c5p+0, 0x1.26dc10625483bp+1, 0x1.57ff1576d90f4p+1, 0x1.892d61dc8e7ecp+1,
       0x1.ba42ea23bd6bap+1, 0x1.eb613e741bc31p+1, 0x1.0e41f52dad833p+2, 0x1.26e37b7963804p+2,
       0x1.3f676652dfb16p+2, 0x1.57f983ce62c39p+2, 0x1.6fbc5f8edcd37p+2}},
     {{0, 0x1.3774b976ec1b4p-2, 0x1.600083c4814e9p-1, 0x1.cb1a1fd1422d6p-1, 0x1.f0b4624dfc4aap-1,
       0x1.fc9b80850cbd0p-1, 0x1.ff6cd12efdc5ep-1, 0x1.ffed15b544a12p-1, 0x1.fffe2a9cbd4d4p-1,
       0x1.ffffdd87f094bp-1, 0x1.fffffe1949ff6p-1, 0x1.ffffffebdb5d8p-1, 0x1.ffffffff61679p-1,
       0x1.fffffffffc486p-1, 0x1.ffffffffffef7p-1, 0x1.ffffffffffffcp-1}},
     {{0x1.06eba8214db69p-3, 0x1.0b9d0ee7bbbefp+0, 0x1.5ae859a345fdfp-1, 0x1.3292ec2425bedp-2,
       0x1.b526923cbcd35p-4, 0x1.cf9abd46e5837p-6, 0x1.6eb90e7689c68p-8, 0x1.afd8fad7c4f8cp-11,
       0x1.79ecb878cc1fbp-14, 0x1.eeefbd6344c95p-18, 0x1.e2078046640f7p-22, 0x1.5d4e9ce021031p-26,
       0x1.759d94ff0acdfp-31, 0x1.2e91cfe3f2fc1p-36, 0x1.6a0bc48323357p-42, 0x1.7525db7329736p-48}},
     {{0x1.09f93051177d3p-61, -0x1.27e8fd8d5cb88p-2, -0x1.ef81b52c7d956p-2, -0x1.6121ce3ea8200p-2,
       -0x1.4fa8a32bf97f1p-3, -0x1.bd06540219a2fp-5, -0x1.a663c51cfce97p-7, -0x1.222502b71f4a4p-9,
       -0x1.2237b32315220p-12, -0x1.ab85a5bc3a489p-16, -0x1.ce9dbebb86e60p-20,
       -0x1.70c2e8f4c708cp-24, -0x1.ae5ef80bdcafap-29, -0x1.7981e7a79ba80p-34,
       -0x1.e676a4251f4e1p-40, -0x1.0c01ec57b0d45p-45}},
     {{-0x1.812746b0379e9p-2, -0x1.2e48ee9d716b8p-2, 0x1.29758846f4a14p-8, 0x1.51f7111b31914p-3,
       0x1.0ec8098c5eb54p-3, 0x1.ec5198258b446p-5, 0x1.25c7078ee5667p-6, 0x1.e3d982df146bep-9,
       0x1.19681b78a0173p-11, 0x1.d7c3ad30e7ed0p-15, 0x1.1df29a7a30043p-18, 0x1.f882d49b8622ep-23,
       0x1.42b70bff89223p-27, 0x1.33b3323757ba7p-32, 0x1.ac3727c47e2a2p-38, 0x1.f989d52c605f3p-44}},
     {{0x1.0dc3fa45c6800p-46, 0x1.18d5d62132c69p-3, 0x1.4704b7e5cecc5p-3, 0x1.46357f221da35p-6,
       -0x1.801d59f95ba08p-5, -0x1.443f2479039b3p-5, -0x1.0bf926566146cp-6, -0x1.14b9c5d6034b2p-8,
       -0x1.7fd41730bc334p-11, -0x1.73e11bff83d5ap-14, -0x1.fe4fc7bcdc7dep-18,
       -0x1.f5e10fe478830p-22, -0x1.61ce5c15944bbp-26, -0x1.702dd4b907de9p-31,
       -0x1.158d29907fcf7p-36, -0x1.5fed8c4c0f8a7p-42}},
     {{0x1.ce2f21a033273p-4, 0x1.2ca2c91dae30fp-4, -0x1.80d5410726386p-5, -0x1.e0b53aaf7a08cp-5,
       -0x1.63f4a97c284a1p-7, 0x1.9539421957881p-7, 0x1.3d92f721b3f66p-7, 0x1.c1cc92d917871p-9,
       0x1.832e13722a963p-11, 0x1.bb328b38c1f5dp-14, 0x1.5cea5ac13adfbp-17, 0x1.8206bae8d2247p-21,
       0x1.2dd694349f54dp-25, 0x1.586a6a57b356cp-30, 0x1.1a49a7f302233p-35, 0x1.81780743b8d42p-41}},
     {{0x1.11ba7435dc4e1p-35, -0x1.62f630aa6d9d4p-5, -0x1.0134ec86a64e5p-5, 0x1.1a26d3b482e8dp-6,
       0x1.27f74c131de73p-6, 0x1.5a29a43377ec1p-9, -0x1.93bcf29cee833p-9, -0x1.feb52835faebbp-10,
       -0x1.2614391c080f7p-11, -0x1.9b45c778e7760p-14, -0x1.7a7160e62f3aep-17,
       -0x1.dc73445a6ba44p-21, -0x1.a0699b786d42bp-25, -0x1.05eee0b274d7cp-29,
       -0x1.d4b8a0d994810p-35, -0x1.59ae30e68a804p-40}},
     {{-0x1.b82ce3d29f47ap-6, -0x1.cc7fa04a6e6f8p-7, 0x1.20385b0c7ff1bp-6, 0x1.101a2eac2f16bp-7,
       -0x1.5dee78f3841c2p-8, -0x1.1fe74e48d024ep-8, -0x1.25ca23459caaep-12, 0x1.63e9aa6eeb8cfp-11,
       0x1.4bcffa245079ep-12, 0x1.2c7b310a48799p-14, 0x1.4c032dda939e0p-17, 0x1.e2ee0287cb14ap-21,
       0x1.dc53bd8124a97p-25, 0x1.4c7dc547c8966p-29, 0x1.464760affca6dp-34, 0x1.04cdf6a7bb573p-39}},
     {{0x1.6767b456e3576p-27, 0x1.5013a2671767bp-7, 0x1.d62bc469da0fdp-9, -0x1.8e8e90d7bcbdep-8,
       -0x1.dd5cee243f135p-10, 0x1.94601236439f4p-10, 0x1.aea862e44d3a9p-11, -0x1.440725935a737p-15,
       -0x1.018bc8b4bbe66p-13, -0x1.56d8bcfdf65dep-15, -0x1.db179204b3900p-18,
       -0x1.97bacc0e57e0cp-21, -0x1.cb74a53f4928bp-25, -0x1.66b70dc443859p-29,
       -0x1.8431940398c39p-34, -0x1.519c0bd51c765p-39}},
     {{0x1.565a0464ef623p-8, 0x1.1396bd041f699p-9, -0x1.057b02933911ep-8, -0x1.e642aa1adbb89p-15,
       0x1.b312c9654c4cep-10, 0x1.9b3e389f4f52ap-13, -0x1.7fca1a0d2bfffp-12, -0x1.c8e28f616196cp-14,
       0x1.7619da2aa788dp-16, 0x1.24c72cb726794p-16, 0x1.142e31df21b75p-18, 0x1.20b5478ca2bedp-21,
       0x1.79d35ad93b1f9p-25, 0x1.4d2d3351ee995p-29, 0x1.90318680051c0p-34, 0x1.7c4c50c32625cp-39}},
     {{0x1.894535bff9855p-21, -0x1.fc35008ae5681p-10, -0x1.1bb65c84eecdcp-14, 0x1.1ee869a3cad01p-10,
       -0x1.85eed15a0b172p-13, -0x1.6e85439c32b8ep-12, 0x1.7ae341d0d835fp-16, 0x1.126527bf8887cp-14,
       0x1.10fa8513f4747p-17, -0x1.41b52e4cc28b9p-18, -0x1.fe61295d76aa4p-20,
       -0x1.56ac5879f488bp-22, -0x1.0a6c3c502dc0cp-25, -0x1.0c9e4bdef5debp-29,
       -0x1.68c2b0761e193p-34, -0x1.788b64b642220p-39}},
     {{-0x1.c1ec4faced796p-11, -0x1.0b076eb809ce2p-12, 0x1.5aa0872809b6cp-11,
       -0x1.ccbafb1f76ffcp-13, -0x1.cca7a736aecf2p-13, 0x1.791c73d9d91e2p-14, 0x1.a712002cfe37bp-15,
       -0x1.da6ee06bdf821p-17, -0x1.12e5157549018p-17, 0x1.4e36be284faebp-23, 0x1.5ee8b374169a6p-21,
       0x1.5140cfb190608p-23, 0x1.42c8e93207b7dp-26, 0x1.7a97e640bbf81p-30, 0x1.1f367541dd593p-34,
       0x1.4d1acf2ee0d07p-39}},
     {{0x1.365f8f6710c3bp-17, 0x1.5faa811865617p-12, -0x1.2a11802cb8393p-14, -0x1.01663a3dead70p-13,
       0x1.5b3ea16ee9874p-14, 0x1.9a32c2942f6c3p-16, -0x1.78df113b20e67p-16, -0x1.edf2a2b1a1216p-19,
       0x1.88dd6084ae6d1p-19, 0x1.5bc8000c3519ep-21, -0x1.10c410f30fa00p-23, -0x1.0c6e46522caf5p-24,
       -0x1.549a3dbdc9255p-27, -0x1.e16fc1418d455p-31, -0x1.a6c300d89fc12p-35,
       -0x1.1136b2da39ce1p-39}},
     {{0x1.c493cf357c87cp-14, -0x1.18b7013d53212p-15, -0x1.27c882d404a0fp-14, 0x1.b3e09fedc70a0p-15,
       0x1.78c2125934f16p-17, -0x1.490db8dc90433p-16, 0x1.c2d74d06503c1p-21, 0x1.d0b52d2eea78ap-19,
       -0x1.e1707d289f58bp-23, -0x1.831305255a517p-22, -0x1.1f26849d63abap-26,
       0x1.380778b570b41p-26, 0x1.28bb36683af06p-28, 0x1.0202591a7e606p-31, 0x1.0757e91f246ddp-35,
       0x1.5a7c4e956ea5dp-40}}}};

struct Erf {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const DoubleGroup size = Smaller(kErfIsOne, Magnitude(x));  // a NaN stays
    const DoubleGroup shifted = Fused(size, kErfPieces, kIntegerShift);
    const auto entries = EntriesAt<kErf>(ToWords(shifted));
    const DoubleGroup t = size - entries[0];
    const DoubleGroup value = Choose(Compare<_CMP_EQ_OQ>(shifted, kIntegerShift), size, entries[1]);
    return WithSign(Fused(Slope(entries, t), t, value), x);
  }
};

// exp(x^2) erfc(x) / s on quarters of the octaves of x + 2, to 2^-55: the columns are the values
// at the centers and P's coefficients up to the tenth. The last bits of the last four are the other
// four, which need no more than 9 to 17 digits. That takes a quarter of the permutations away. s
// and what separates the centers from the middles are such that the values, and s 2^(j / 16), are
// all but numbers of f64: rounding them loses a third of what it could.
constexpr double kErfcVanishes = 27.3, kErfcOffset = 0x1.0b2ebc0000000p-24;
constexpr Columns<11> kScaledErfc = {
    {{{0x1.8a68d559dcaabp-1, 0x1.038bff4d708bep-1, 0x1.78a4a29600a67p-2, 0x1.23ce4330b8fbcp-2,
       0x1.afb907a923b1fp-3, 0x1.3e08f7a1801ebp-3, 0x1.f5b00d05edec6p-4, 0x1.9d886fc6395fap-4,
       0x1.46dabe8d22a17p-4, 0x1.fe6a261bf21dep-5, 0x1.a2719fd3b2db7p-5, 0x1.6279fa89455d3p-5,
       0x1.204c622ca1471p-5, 0x1.cd996a53f215ap-6, 0x1.80cfef23d2f32p-6, 0x1.49ea2d2b47a27p-6}},
     {{-0x1.7c838576e6be6p-1, -0x1.78cbe4925c4bbp-2, -0x1.aba89a5a09e78p-3, -0x1.0c3bf2552a8ecp-3,
       -0x1.3085473325ed4p-4, -0x1.528415a84d748p-5, -0x1.aa3c8631315afp-6, -0x1.238b27d4d56fep-6,
       -0x1.6e4963b5accacp-7, -0x1.c0441c8a51cf4p-8, -0x1.2ddbb0b75ba5fp-8, -0x1.b1bc0dcc4c6ddp-9,
       -0x1.1f2edc3caa135p-9, -0x1.705ca821e4827p-10, -0x1.0019188ac6316p-10,
       -0x1.7890e764b7d83p-11}},
     {{0x1.2b47f26f0050bp-1, 0x1.d8fe2347b4b85p-3, 0x1.b56d04fa3c143p-4, 0x1.c8ce74d1cffd2p-5,
       0x1.9893705257eb6p-6, 0x1.5d56455e8f272p-7, 0x1.62bf59f5face7p-8, 0x1.952316b04218ep-9,
       0x1.96a1c798909a1p-10, 0x1.87617176be35ep-11, 0x1.b1c65819b78a1p-12, 0x1.08979b7e2fb00p-12,
       0x1.1d85dd3b8f0c2p-13, 0x1.2598118d346acp-14, 0x1.549485ea3493ep-15, 0x1.ad8a9b7a92e56p-16}},
     {{-0x1.97975f83ba79dp-2, -0x1.09e61dd630fdap-3, -0x1.9b613b990070ep-5, -0x1.6cb34eb64f563p-6,
       -0x1.0630adc5be46ap-7, -0x1.5e5bb119be92dp-9, -0x1.218d5bfefe10fp-10, -0x1.159600911f68bp-11,
       -0x1.bf4e248596446p-13, -0x1.53bf72f218170p-14, -0x1.36715875e50d6p-15,
       -0x1.41e5a9937f63fp-16, -0x1.1b549efcc1676p-17, -0x1.d36d7da5ae03ap-19,
       -0x1.c48ad55dc0243p-20, -0x1.e9a8c93abcba4p-21}},
     {{0x1.f0aa0b53c1d6ap-3, 0x1.11918bd1c8851p-4, 0x1.68a07dc7a5739p-6, 0x1.13631e67fd25fp-7,
       0x1.435a5a4957d6bp-9, 0x1.563050657a038p-11, 0x1.d00522b7c7524p-13, 0x1.774d5a0302a76p-14,
       0x1.e7aced2a88b9fp-16, 0x1.2541ff4201c19p-17, 0x1.ba9f93c963da8p-19, 0x1.8680d0a9369d5p-20,
       0x1.189f1628c2598p-21, 0x1.73a2f668e0d20p-23, 0x1.2c65d5214fe0cp-24, 0x1.16eb56afca547p-25}},
     {{-0x1.146817451c875p-3, -0x1.054c0e27df73cp-5, -0x1.2994ad32e05b3p-7, -0x1.8bf50b587ae85p-9,
       -0x1.809aece65a152p-11, -0x1.46090f678914ap-13, -0x1.6d52cfb7f9c93p-15,
       -0x1.f4e1d94c3c5d0p-17, -0x1.078aa34222ee4p-18, -0x1.f770b9ea95a29p-21,
       -0x1.3a53c003f4d58p-22, -0x1.d8665f32f15d4p-24, -0x1.1569e70d5154ap-25,
       -0x1.271d6a9838025p-27, -0x1.8e77ac6b296c8p-29, -0x1.3d8e17e701097p-30}},
     {{0x1.1d0aad89b1055p-4, 0x1.d4380f542dbf7p-7, 0x1.d1b42da8289d3p-9, 0x1.106a6d590c266p-10,
       0x1.ba881f271ce62p-13, 0x1.2f820d13f6e64p-15, 0x1.1ad52fe9e04d9p-17, 0x1.4a1632b88f1e7p-19,
       0x1.1a6df74d82ca2p-21, 0x1.adc3c248b3016p-24, 0x1.bcbc935a12efap-26, 0x1.1cf0915e8f0dep-27,
       0x1.11ba591382906p-29, 0x1.d420ba4c15064p-32, 0x1.080d2f2211e53p-33, 0x1.6951a2a5da623p-35}},
     {{-0x1.132c49fe7e11ap-5, -0x1.8c95cf017dba1p-8, -0x1.5b89fd0c7d8bap-10, -0x1.6836ab777d032p-12,
       -0x1.edd193447c625p-15, -0x1.146a56997b97bp-17, -0x1.aef6b1f07bca2p-20,
       -0x1.add5765a7ba9ep-22, -0x1.2c2c2c547a4cdp-24, -0x1.6ce481ee79b51p-27,
       -0x1.3970e98b79e4bp-29, -0x1.56c94b9c79d62p-31, -0x1.0d9646ca783f9p-33,
       -0x1.72d5ad347789dp-36, -0x1.5da8bab677a8fp-38, -0x1.9abcd9f877b54p-40}},
     {{0x1.f54a576bf2441p-7, 0x1.3f80457beee65p-9, 0x1.f0fb3b5bebb90p-12, 0x1.cb4a3fcbe8f15p-14,
       0x1.0bca3f9be5247p-16, 0x1.ed28f33be0b64p-20, 0x1.4351085bdcfccp-22, 0x1.14961febd9adcp-24,
       0x1.3c750c9bd584bp-27, 0x1.342aeeabd0fecp-30, 0x1.b833575bcd21dp-33, 0x1.9b2708cbc9dfdp-35,
       0x1.09040a1bc5f4dp-37, 0x1.25685efbc174cp-40, 0x1.ce9e45abbdf0cp-43, 0x1.d567f1f3c1e06p-45}},
     {{-0x1.b17fb44fcebdcp-8, -0x1.ec0abacfc1e7fp-11, -0x1.55be98cfb520dp-13,
       -0x1.1b27a5cfab513p-15, -0x1.1ad0a68f9c806p-18, -0x1.af5bb98f8c407p-22,
       -0x1.de06cd8f7aa59p-25, -0x1.5ffe4a6f704fbp-27, -0x1.4aff90cf61acdp-30,
       -0x1.02e6cc0f50a57p-33, -0x1.33ed738f47681p-36, -0x1.ec080daf4135ep-39,
       -0x1.040bab4f27902p-41, -0x1.cfbc42cf1736dp-45, -0x1.31cb230f06691p-47,
       -0x1.e665e30f140f4p-50}},
     {{0x1.65a9877ea354bp-9, 0x1.6b534d7e40530p-12, 0x1.c5d5757de4601p-15, 0x1.524dcb7d911d9p-17,
       0x1.234f2f7d24975p-20, 0x1.71ff4d7ca7027p-24, 0x1.5dfb1d7c3e9acp-27, 0x1.c224597be2783p-30,
       0x1.577c877b6c2b7p-33, 0x1.b0c8957aecf3fp-37, 0x1.a75b5d7a85428p-40, 0x1.36857b7a2bb47p-42,
       0x1.fd6c6179be2abp-46, 0x1.6def9f79440b1p-49, 0x1.95a2f178e1447p-52,
       0x1.2304a878e32c0p-53}}}};
constexpr Columns<1> kErfcPower = {
    {{{0x1.0001502fc2c00p+0, 0x1.0b56e5e1b9948p+0, 0x1.172cf265076b8p+0, 0x1.238925bfc4e24p+0,
       0x1.3071706ebe6acp+0, 0x1.3dec064017623p+0, 0x1.4bff614e4641fp+0, 0x1.5ab2451cd88e6p+0,
       0x1.6a0bc1d87d619p+0, 0x1.7a1337bbe6637p+0, 0x1.8ad05a9b20b52p+0, 0x1.9c4b359719d08p+0,
       0x1.ae8c2efb17ab9p+0, 0x1.c19c0c45ff974p+0, 0x1.d583f6615c5e7p+0, 0x1.ea4d7e082a259p+0}}}};

// The middle of the quarter of an octave in which a number lies.
PJRT_INLINE DoubleGroup MiddleOfQuarter(WordGroup x) {
  constexpr uint64_t kHalf = uint64_t{1} << 49;
  return PJRT_EACH(DoubleGroup, (Doubles)((x.v[i] & AllWords(0 - 2 * kHalf)) | AllWords(kHalf)));
}

// The last bits of each element, as the first ones of a number.
template <int kBits>
PJRT_INLINE DoubleGroup LastBits(DoubleGroup x) {
  return ToDoubles(ShiftedLeft<64 - kBits>(ToWords(x)));
}

constexpr double kSixteenthShift = 0x1.8p+48;  // moves sixteenths into the low bits

// exp(-x^2) = 2^n 2^(j / 16) (1 + part), with log(2) in two parts, of which the first has 36 bits.
// Neither x^2 nor the product of both values is rounded.
struct Erfc {
  static constexpr int kSteps = 3, kKept = 5;
  PJRT_INLINE void Begin(DoubleGroup x, Kept kept) {
    const DoubleGroup size = Smaller(kErfcVanishes, Magnitude(x));
    const DoubleGroup shifted = FusedLess(size * size, 0x1.71547652b82fep+0, kSixteenthShift);
    const DoubleGroup n = shifted - kSixteenthShift;
    const DoubleGroup most_of_r = FusedLess(size, size, n * -0x1.62e42fefap-1);
    const DoubleGroup r = FusedLess(n, 0x1.cf79abc9e3b3ap-40, most_of_r);
    // exp(r) - 1, to 2^-56.
    const DoubleGroup p45 = Fused(r, 0x1.6c181fa13138ep-10, 0x1.11126f4650f62p-7);
    const DoubleGroup p23 = Fused(Fused(p45, r, 0x1.55555554ace81p-5), r, 0x1.55555554047aap-3);
    const DoubleGroup p = Fused(Fused(p23, r, 0x1.0000000000003p-1), r, 0x1.000000000000ap+0);
    kept.Put(0, size);
    kept.Put(1, shifted);
    kept.Put(2, p * r);
  }
  PJRT_INLINE void Go(Kept kept) {
    const DoubleGroup size = kept[0];
    const WordGroup place = ToWords(size + 2);
    const auto entries = EntriesAt<kScaledErfc>(ShiftedRight<50>(place));
    const DoubleGroup t = size - (MiddleOfQuarter(place) - (2 - kErfcOffset)), t2 = t * t;
    const DoubleGroup p6 = entries[7], p7 = entries[8], p8 = entries[9], p9 = entries[10];
    const DoubleGroup p10 = LastBits<29>(p9), p11 = LastBits<26>(p8);
    const DoubleGroup p12 = LastBits<24>(p7), p13 = LastBits<21>(p6);
    DoubleGroup p = Fused(Fused(p13, t, p12), t2, Fused(p11, t, p10));
    p = Fused(Fused(p, t2, Fused(p9, t, p8)), t2, Fused(p7, t, p6));
#pragma GCC unroll 2
    for (int i = 5; i > 1; i -= 2) p = Fused(p, t2, Fused(entries[i + 1], t, entries[i]));
    const DoubleGroup slope = Fused(Fused(p, t, entries[2]), t, entries[1]);
    const DoubleGroup value = entries[0];
    kept.Put(0, value);
    kept.Put(3, slope * t);
    kept.Put(4, Fused(slope, t, value));
  }
  PJRT_INLINE DoubleGroup End(DoubleGroup x, Kept kept) {
    const DoubleGroup shifted = kept[1], n = shifted - kSixteenthShift;
    const DoubleGroup power = EntriesAt<kErfcPower>(ToWords(shifted))[0];
    const DoubleGroup rest = Fused(kept[4], kept[2], kept[3]) * power;
    const DoubleGroup result = Scaled(Fused(kept[0], power, rest), n);
    return Choose(IsNegative(x), 2 - result, result);
  }
};

// The root of m = c + t on sixteenths of [1, 2), as c, its root and P's coefficients, from the
// constant one on: the root is cbrt(c) + t P(t), to 2^-58. The centers are such that their roots
// are all but numbers of f64.
constexpr Columns<10> kCbrt = {
    {{{0x1.0820f765fd8aep+0, 0x1.182ed77318fc5p+0, 0x1.2810bc6a7ef9ep+0, 0x1.38123bcd35a86p+0,
       0x1.4837020c49ba6p+0, 0x1.581895182a993p+0, 0x1.67fd82a9930bep+0, 0x1.77d8d013a92a3p+0,
       0x1.8805f8a0902dep+0, 0x1.97c4504816f00p+0, 0x1.a805b089a0275p+0, 0x1.b83a2b6ae7d56p+0,
       0x1.c8163886594afp+0, 0x1.d83113404ea4bp+0, 0x1.e7f0f765fd8aep+0, 0x1.f7f36e2eb1c43p+0}},
     {{0x1.02ae70bf1005ep+0, 0x1.07d1d7f2167c8p+0, 0x1.0cb69bad3f491p+0, 0x1.117890fb899a7p+0,
       0x1.161b8656ff637p+0, 0x1.1a85c9292fba6p+0, 0x1.1eceac9923493p+0, 0x1.22f53fd5a3d72p+0,
       0x1.2712e2eb3a80ep+0, 0x1.2af8d9748da9ap+0, 0x1.2ee4a8769b857p+0, 0x1.32b4225225f3ap+0,
       0x1.3657e76206d87p+0, 0x1.39f43cc7d4660p+0, 0x1.3d681100867d2p+0, 0x1.40d734ba9347ap+0}},
     {{0x1.4e4b305b73e76p-2, 0x1.41661481b4ee9p-2, 0x1.35cc9726ffe9ep-2, 0x1.2b1d1679b4da0p-2,
       0x1.2139259d987ffp-2, 0x1.184117fb47ba7p-2, 0x1.0ff174067dd27p-2, 0x1.083d5abab3cc5p-2,
       0x1.00eb717bfde85p-2, 0x1.f486e0f565c5ep-3, 0x1.e7a6cae24f633p-3, 0x1.db9c182451fbcp-3,
       0x1.d084ea7f797dbp-3, 0x1.c5e5662b2df8ep-3, 0x1.bc135e7559611p-3, 0x1.b29ec22c4f86fp-3}},
     {{-0x1.b001e4ed4c9e2p-4, -0x1.878b6546ad0e5p-4, -0x1.652ac1b86d74fp-4, -0x1.472925bab5f99p-4,
       -0x1.2cc881905abf2p-4, -0x1.16011058ca3f2p-4, -0x1.01d9714950319p-4, -0x1.dff31e4b7e0a5p-5,
       -0x1.bf65ee02d09dbp-5, -0x1.a2fb198f84ee0p-5, -0x1.888de2d6c82a3p-5, -0x1.70c475ccd7f00p-5,
       -0x1.5ba4e42795f49p-5, -0x1.481ba4a92cd44p-5, -0x1.36a5ce63d3568p-5, -0x1.265fe5ca972a6p-5}},
     {{0x1.d13c4f3124523p-5, 0x1.8d7fef724926cp-5, 0x1.5725d475ef6dcp-5, 0x1.2a32b80074a8dp-5,
       0x1.04abca4b35df1p-5, 0x1.cb9ec3ca46499p-6, 0x1.977a09269ff39p-6, 0x1.6b3afa01dbcf8p-6,
       0x1.449f935838dfdp-6, 0x1.2444577c4e4f3p-6, 0x1.0755bf9831319p-6, 0x1.dc8b4a82afe03p-7,
       0x1.b1a021281a5d1p-7, 0x1.8b4c9619fca33p-7, 0x1.6a2ed6446ae9dp-7, 0x1.4c4e9b1ea975bp-7}},
     {{-0x1.2c9c99e99a7e7p-5, -0x1.e44132009c613p-6, -0x1.8b9d53d8df946p-6, -0x1.4628cd5bb331cp-6,
       -0x1.0f170039f6eecp-6, -0x1.c7ee11c417b99p-7, -0x1.825bd4ea724eep-7, -0x1.49e016da04751p-7,
       -0x1.1aa5fdd9f0cd4p-7, -0x1.e94d2be0ad225p-8, -0x1.a7f6af89e2001p-8, -0x1.717dec4f13b4dp-8,
       -0x1.4485fd9706b2bp-8, -0x1.1dc0007cc0b18p-8, -0x1.fab8a669933ddp-9, -0x1.c2272329b996ap-9}},
     {{0x1.ab53f9b4b4da5p-6, 0x1.447815102e1d7p-6, 0x1.f5b6b0eac1fc4p-7, 0x1.886aaa0e403eep-7,
       0x1.361e157921f7bp-7, 0x1.f17f08acffe20p-8, 0x1.92f7fa57b5a98p-8, 0x1.498aa3f242b5ap-8,
       0x1.0eb6070f6c6dfp-8, 0x1.c28aed2616557p-9, 0x1.776a2c9087ff3p-9, 0x1.3b231138642a3p-9,
       0x1.0b28b70d8fe42p-9, 0x1.c66eb025419b6p-10, 0x1.85eaef3341879p-10, 0x1.4f62785333996p-10}},
     {{-0x1.4222ea9de958bp-6, -0x1.cd29fea79b472p-7, -0x1.516a055371626p-7, -0x1.f4bf583af2371p-8,
       -0x1.784383761f5bdp-8, -0x1.1fe034f58db0fp-8, -0x1.bdc3db6c06079p-9, -0x1.5d291d37ba382p-9,
       -0x1.12fddbabb8db8p-9, -0x1.b7ff593942a40p-10, -0x1.60927f62121efp-10,
       -0x1.1d113cb1a5672p-10, -0x1.d28728f6cf525p-11, -0x1.7f3e9ec1b862bp-11,
       -0x1.3e38fb0e88df0p-11, -0x1.09056970ab59cp-11}},
     {{0x1.fa297424347a0p-7, 0x1.557ecd83967e4p-7, 0x1.d8da4f2bf1430p-8, 0x1.4cd7f42f99b0bp-8,
       0x1.db8d51972c20ap-9, 0x1.5b05ee46acb48p-9, 0x1.00cbf3aea50cdp-9, 0x1.814b00ab4a163p-10,
       0x1.22e9e47e4e25ep-10, 0x1.bf7a53ba84882p-11, 0x1.58cf200a89c75p-11, 0x1.0c846af4dbf76p-11,
       0x1.a82664d1b20edp-12, 0x1.508994b6757cfp-12, 0x1.0e69e270842ecp-12, 0x1.b4174aa885ed1p-13}},
     {{-0x1.9a3462e0fa8c8p-7, -0x1.053107a38307fp-7, -0x1.553f48a2935b5p-8, -0x1.c7caf1c46c463p-9,
       -0x1.367ed2b3aea79p-9, -0x1.af211e4ac7b98p-10, -0x1.304ff7033d593p-10,
       -0x1.b430c59694861p-11, -0x1.3cc1fe82580f9p-11, -0x1.d2693ac055b68p-12,
       -0x1.5b172b3e61c48p-12, -0x1.052b66df4310ep-12, -0x1.8d4feb80349bcp-13,
       -0x1.30f0941980a2fp-13, -0x1.d887ed445b2bep-14, -0x1.70f94be12ea93p-14}}}};
// The roots of 1, 2 and 4, and what rounding them lost.
constexpr Columns<2> kRoots = {{{{1, 0x1.428a2f98d728bp+0, 0x1.965fea53d6e3dp+0}},
                                {{0, -0x1.ddc22548ea41ep-56, -0x1.f53e999952f09p-54}}}};

// The product of both roots has two parts, so that roots that are numbers come out exactly.
struct Cbrt {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const DoubleGroup size = Magnitude(x), exponent = ExponentOf(size), m = MantissaOf(size);
    const DoubleGroup third = Floor(Fused(exponent, 1.0 / 3, 0.125));
    const DoubleGroup rest = FusedLess(third, 3, exponent) + kIntegerShift;
    const auto roots = EntriesAt<kRoots>(ToWords(rest));
    const DoubleGroup root = roots[0], root_low = roots[1];
    const auto entries = EntriesAt<kCbrt>(ShiftedRight<48>(ToWords(m)));
    const DoubleGroup t = m - entries[0], t2 = t * t, value = entries[1];
    const DoubleGroup p01 = Fused(entries[3], t, entries[2]),
                      p23 = Fused(entries[5], t, entries[4]);
    const DoubleGroup p45 = Fused(entries[7], t, entries[6]),
                      p67 = Fused(entries[9], t, entries[8]);
    const DoubleGroup p = Fused(Fused(Fused(p67, t2, p45), t2, p23), t2, p01);
    const DoubleGroup high = root * value, lost = Fused(root, value, -high);
    const DoubleGroup low = Fused(root, t * p, Fused(root_low, value, lost));
    return Choose(IsZeroOrNotFinite(x), x, WithSign(ScaledInside(high + low, third), x));
  }
};

}  // namespace

void FillPiecesF64(BlockKernels* k) {
  Entry(k, BlockOp::kErf, CType::kF64) = DoublesLoop<Erf>;
  Entry(k, BlockOp::kErfc, CType::kF64) = LoopInSteps<Erfc>;
  Entry(k, BlockOp::kCbrt, CType::kF64) = DoublesLoop<Cbrt>;
}
#else
void FillPiecesF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
