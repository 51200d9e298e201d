// SPDX-License-Identifier: Apache-2.0
//
// The error function of f64, its complement and the cube root by polynomials on 16 pieces of their
// range, whose coefficients permutations fetch. Levels without them have those of block_exp_f64.cc
// and block_trig_f64.cc. Largest errors seen, over some 10^7 arguments: Erf 0.77, Erfc 1.35, Cbrt
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

// On pieces of equal widths, of the first of which the upper part is used; to 2^-56. There erf(t) =
// t + t P(t).
constexpr double kErfPieces = 2.65, kErfShift = 0.27, kErfIsOne = 5.95;
constexpr Columns<15> kErf = {
    {{{0, 0x1.eb55764eb32afp-2, 0x1.b682d98d3c167p-1, 0x1.3bb168dc34804p+0, 0x1.9c9eb4d10659ap+0,
       0x1.fce3c4b2bad83p+0, 0x1.2ee6a7badb827p+1, 0x1.5f3dc0656533cp+1, 0x1.8f7c665fce207p+1,
       0x1.bfac3e2fe3c41p+1, 0x1.f00d0bc288c3ep+1, 0x1.1023c1a88a982p+2, 0x1.284b58ea0352cp+2,
       0x1.406eb4185eb29p+2, 0x1.58ad7e8d0aa06p+2, 0x1.70d8ecd8c0cbap+2}},
     {{0, 0x1.01530c4c8ec9bp-1, 0x1.8c62dafbbb0a9p-1, 0x1.d671b869e5736p-1, 0x1.f4684a37968f6p-1,
       0x1.fd7928485b4b9p-1, 0x1.ff94c6ddf6ceap-1, 0x1.fff25926c1adcp-1, 0x1.fffeab1560dacp-1,
       0x1.ffffe69936ffap-1, 0x1.fffffe93f7e75p-1, 0x1.fffffff0674ecp-1, 0x1.ffffffff7f1dcp-1,
       0x1.fffffffffcd82p-1, 0x1.fffffffffff15p-1, 0x1.ffffffffffffdp-1}},
     {{0x1.06eba8214db69p-3, 0x1.caec292f048fep-1, 0x1.156e401244c8bp-1, 0x1.f90f8b3740416p-3,
       0x1.58019b86c23f6p-4, 0x1.636ae422cbd26p-6, 0x1.117a6806ab58ep-8, 0x1.3d8dcaab7209fp-11,
       0x1.1684670e6dee0p-14, 0x1.70e37eae6b304p-18, 0x1.6bc1e0c16f13fp-22, 0x1.1040ba2675aacp-26,
       0x1.3101f638c7869p-31, 0x1.01a9325e1951fp-36, 0x1.41af19a8bb4f8p-42, 0x1.318ad634d3b4bp-48}},
     {{0x1.b0d49ae296bdbp-54, -0x1.b86613be653e4p-2, -0x1.db386f5f4e1d7p-2, -0x1.376a11767f611p-2,
       -0x1.153bed22707e6p-3, -0x1.61422ac9a8daep-5, -0x1.4394cddfcb6c3p-7, -0x1.b3b202527aaedp-10,
       -0x1.b29fb42264c45p-13, -0x1.428ab653e28aep-16, -0x1.606d1682789fep-20,
       -0x1.216acc965a22ep-24, -0x1.61040a3440748p-29, -0x1.4282eaecaac1ap-34,
       -0x1.b11d4cd4046efp-40, -0x1.b83a7bbde9b83p-46}},
     {{-0x1.812746b037b2cp-2, -0x1.4a25f27ba27a0p-3, 0x1.598bf13820ad7p-4, 0x1.57af40c55f9eap-3,
       0x1.e11fe213745d9p-4, 0x1.98e9eb5077ae9p-5, 0x1.d0e7b76b31feap-7, 0x1.74104b24308c1p-9,
       0x1.acf10ab0e4a55p-12, 0x1.68a755540076ap-15, 0x1.b81b77878eb3dp-19, 0x1.8edfd5761b033p-23,
       0x1.0a085743d524ep-27, 0x1.07c1377b2c376p-32, 0x1.7e0f9e3a9066cp-38, 0x1.a07dd7e1f4403p-44}},
     {{0x1.7f4ea65e203afp-40, 0x1.74ce0266e1230p-3, 0x1.e5a71123e3191p-4, -0x1.13574b99d9a09p-9,
       -0x1.95d4592a2fdd0p-5, -0x1.20ad475a11f1bp-5, -0x1.ba37f689cf2a0p-7, -0x1.b5de6b7a5f862p-9,
       -0x1.2a76164c334d0p-11, -0x1.2076867c79df8p-14, -0x1.8d07660ead65cp-18,
       -0x1.8fe74d6e19c9ep-22, -0x1.253271533a61bp-26, -0x1.3cb374d6c0fcfp-31,
       -0x1.f05c070561797p-37, -0x1.22df069f7b95fp-42}},
     {{0x1.ce2f219c99d15p-4, 0x1.b7e3a03ed0807p-7, -0x1.0e0acc2429e42p-4, -0x1.93eed2abce975p-5,
       -0x1.b0764c3d57e14p-9, 0x1.ab753417cc908p-7, 0x1.171e0cdc20eb8p-7, 0x1.70ff9368d9cd0p-9,
       0x1.344182a41cf13p-11, 0x1.5d74886d5dceap-14, 0x1.12b8912cf47c6p-17, 0x1.362d4deafa3e6p-21,
       0x1.f70c8a5289c09p-26, 0x1.2958ed5c11ed7p-30, 0x1.f9fbab3fcbbbbp-36, 0x1.3fa756dcc280ap-41}},
     {{0x1.53d1dc6a48ad0p-30, -0x1.9f3f4d60960cdp-5, -0x1.a34e6894b879cp-7, 0x1.55421aca47214p-6,
       0x1.eaf8b65ddc884p-7, 0x1.8ae66410aae62p-11, -0x1.98f9ff07de49ap-9, -0x1.b982364d4a5f5p-10,
       -0x1.e231f30d631d1p-12, -0x1.4a79fe2a44d61p-14, -0x1.2df27ac19cc18p-17,
       -0x1.825292638efabp-21, -0x1.5d0f3e7ccb221p-25, -0x1.c6059483be03fp-30,
       -0x1.a5142716e92e8p-35, -0x1.1fa603269b443p-40}},
     {{-0x1.b82cf6c7daea3p-6, 0x1.ebe24d4ee3e2ep-9, 0x1.347c75b8dfceap-6, 0x1.2072237756a3cp-8,
       -0x1.90b6dbc14c985p-8, -0x1.cf2c9cec05e6cp-9, 0x1.5618246a687acp-14, 0x1.54e070e9455dcp-11,
       0x1.1b3084f087d27p-12, 0x1.ee102948dd0bbp-15, 0x1.0cec5af032403p-17, 0x1.8b7ec4385f75ep-21,
       0x1.91d442ac1b49dp-25, 0x1.2157513ffca29p-29, 0x1.25d8e855b23b3p-34, 0x1.b3997f40227b3p-40}},
     {{0x1.86333ab5fe331p-23, 0x1.552cdb4d03de7p-7, -0x1.5205791aca67dp-10, -0x1.7d6ee414229b5p-8,
       -0x1.879779263dabdp-11, 0x1.a20ccc1f39feep-10, 0x1.4540df4691f46p-11, -0x1.65097c2af8ec5p-14,
       -0x1.d6851ae9c307ep-14, -0x1.225b4cc3cfe55p-15, -0x1.87afaf59ff814p-18,
       -0x1.51a56c57f7fbcp-21, -0x1.86479e97cc312p-25, -0x1.3985db99b4800p-29,
       -0x1.5e86ee1c4c328p-34, -0x1.1b000e7e2a6b1p-39}},
     {{0x1.56474cbefa651p-8, -0x1.e250509c3cdaap-10, -0x1.bfb33b8a6f6e8p-9, 0x1.8386d861631f3p-11,
       0x1.7dcbd8753954fp-10, -0x1.2310298681a25p-16, -0x1.66b62466ad417p-12,
       -0x1.3888aa4abccafp-14, 0x1.a8493c502be47p-16, 0x1.03335688bae8cp-16, 0x1.d17a49bd39c46p-19,
       0x1.e44caa176c210p-22, 0x1.43628ce4b1776p-25, 0x1.2490ce61cceb8p-29, 0x1.6a5eb3fc5dae5p-34,
       0x1.401737949bcb1p-39}},
     {{0x1.75fd329b5f59bp-18, -0x1.b6e9473255e8bp-10, 0x1.aadc682d73855p-11, 0x1.bee886377b375p-11,
       -0x1.61028d6020933p-12, -0x1.221140f297529p-12, 0x1.b0eeb944de96ep-15, 0x1.d6081ad447809p-15,
       0x1.17148a1f416c9p-18, -0x1.384faed606edcp-18, -0x1.bb0f559277177p-20,
       -0x1.23cc324a47d6bp-22, -0x1.cbf7f68c334cdp-26, -0x1.da2b58166b9dap-30,
       -0x1.47a69d2e7f517p-34, -0x1.3e1952bc8fd84p-39}},
     {{-0x1.c8f89cc2592bdp-11, 0x1.d4ca9bd28754fp-12, 0x1.c51a03d4ec55fp-12, -0x1.4731ae9375512p-12,
       -0x1.24e94ebdc27e1p-13, 0x1.af310de400f11p-14, 0x1.1b53ba19f9714p-15, -0x1.086c82b6c5a07p-16,
       -0x1.b416f10f26926p-18, 0x1.cea8ef951808dp-22, 0x1.3fafb7b724598p-21, 0x1.24ba9241e24c0p-23,
       0x1.196dc14d29152p-26, 0x1.5017a7e2543a2p-30, 0x1.05a5a66e2d715p-34, 0x1.1912159a74f30p-39}},
     {{0x1.0365be4ab65a8p-15, 0x1.c36fe371cdb71p-13, -0x1.7d29a9a595e82p-13, -0x1.114cf63013b6ap-14,
       0x1.6df166b953db1p-14, 0x1.15be6003aef13p-17, -0x1.5f2c0b7c2722dp-16, -0x1.740f2b2f835f5p-20,
       0x1.6e363a0871e46p-19, 0x1.f2bc99e7549bdp-22, -0x1.1be5bc30fe934p-23, -0x1.df0ff6877bda2p-25,
       -0x1.2c6a9599f2387p-27, -0x1.adba43f83db57p-31, -0x1.821429087f4dap-35,
       -0x1.d3ec17a600813p-40}},
     {{0x1.83bad747cd8f8p-14, -0x1.45d0c5bb6acedp-14, -0x1.3104d45e73bcap-15, 0x1.d2075daadfd09p-15,
       -0x1.f9cf1c16dd73dp-20, -0x1.18ba980b4c0bap-16, 0x1.7a3e9f8b5ef3ap-19, 0x1.73cf3f3704df2p-19,
       -0x1.a199a4e6d3351p-22, -0x1.473f2e125e969p-22, -0x1.4f79971b34846p-28,
       0x1.23696801c331cp-26, 0x1.07a1c18dfa2bfp-28, 0x1.cd04579ced1b4p-32, 0x1.e43338303b0cfp-36,
       0x1.4aacedd9a8872p-40}}}};

struct Erf {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const DoubleGroup size = Smaller(kErfIsOne, Magnitude(x));  // a NaN stays
    const DoubleGroup shifted = Fused(size, kErfPieces, -kErfShift) + kIntegerShift;
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
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const DoubleGroup size = Smaller(kErfcVanishes, Magnitude(x));
    const WordGroup place = ToWords(size + 2);
    const auto entries = EntriesAt<kScaledErfc>(ShiftedRight<50>(place));
    const DoubleGroup t = size - (MiddleOfQuarter(place) - (2 - kErfcOffset));
    const DoubleGroup value = entries[0], t2 = t * t;
    const DoubleGroup p6 = entries[7], p7 = entries[8], p8 = entries[9], p9 = entries[10];
    const DoubleGroup p10 = LastBits<29>(p9), p11 = LastBits<26>(p8);
    const DoubleGroup p12 = LastBits<24>(p7), p13 = LastBits<21>(p6);
    DoubleGroup p = Fused(Fused(p13, t, p12), t2, Fused(p11, t, p10));
    p = Fused(Fused(p, t2, Fused(p9, t, p8)), t2, Fused(p7, t, p6));
#pragma GCC unroll 2
    for (int i = 5; i > 1; i -= 2) p = Fused(p, t2, Fused(entries[i + 1], t, entries[i]));
    const DoubleGroup slope = Fused(Fused(p, t, entries[2]), t, entries[1]);
    const DoubleGroup shifted = FusedLess(size * size, 0x1.71547652b82fep+0, kSixteenthShift);
    const DoubleGroup n = shifted - kSixteenthShift;
    const DoubleGroup power = EntriesAt<kErfcPower>(ToWords(shifted))[0];
    const DoubleGroup most_of_r = FusedLess(size, size, n * -0x1.62e42fefap-1);
    const DoubleGroup r = FusedLess(n, 0x1.cf79abc9e3b3ap-40, most_of_r), r2 = r * r;
    // exp(r) - 1, to 2^-57. With its first coefficient it takes one power of r less.
    const DoubleGroup e = Fused(Fused(r, 0x1.6c1842fafe244p-10, 0x1.11126eecebd04p-7), r2,
                                Fused(r, 0x1.555555547d375p-5, 0x1.5555555405268p-3));
    const DoubleGroup part = Fused(e, r2, Fused(r, 0x1.0000000000004p-1, 0x1.000000000000ap+0)) * r;
    const DoubleGroup most = value * power, most_low = Fused(value, power, -most);
    const DoubleGroup other = Fused(slope, t * power, most_low),
                      rest = Fused(most + other, part, other);
    const DoubleGroup result = Scaled(most + rest, n);
    return Choose(Compare<_CMP_LT_OQ>(x, 0), 2 - result, result);
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
  Entry(k, BlockOp::kErfc, CType::kF64) = DoublesLoop<Erfc>;
  Entry(k, BlockOp::kCbrt, CType::kF64) = DoublesLoop<Cbrt>;
}
#else
void FillPiecesF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
