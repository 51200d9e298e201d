// SPDX-License-Identifier: Apache-2.0
//
// The error function of f64, its complement and the cube root by polynomials on 16 pieces of their
// range, whose coefficients permutations fetch. Levels without them have those of block_exp_f64.cc
// and block_trig_f64.cc. Largest errors seen, over some 10^7 arguments: Erf 0.77, Erfc 0.92, Cbrt
// 0.54 ULP.
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

// exp(x^2) erfc(x) to 2^-54.7, on quarters of the octaves of x + 2.
constexpr double kErfcVanishes = 27.3;
constexpr Columns<16> kScaledErfc = {
    {{{0x1.fc237fa89e60fp-3, 0x1.7e3645a1cac08p-1, 0x1.40b22d0e56042p+0, 0x1.bf6b851eb851fp+0,
       0x1.405f0fb38a94dp+1, 0x1.c08da740da741p+1, 0x1.20604189374bcp+2, 0x1.5f9cc1e098eadp+2,
       0x1.bffa32846ff51p+2, 0x1.207ba5e353f7dp+3, 0x1.5fe37fa89e60fp+3, 0x1.a016f46508dffp+3,
       0x1.00219f0fb38a9p+4, 0x1.402846ff513ccp+4, 0x1.80556b2dbd194p+4, 0x1.ac26b851eb852p+4}},
     {{0x1.8b22cce8307e9p-1, 0x1.0436220ceae46p-1, 0x1.7811f2f7d1563p-2, 0x1.241da0469f1f1p-2,
       0x1.af4a46a887e74p-3, 0x1.3dad0be6ef095p-3, 0x1.f5128dbeea7cdp-4, 0x1.9dfbb3c0a7e84p-4,
       0x1.46e092c4164a9p-4, 0x1.fd949b790dd4ap-5, 0x1.a29563b716be1p-5, 0x1.62685b00b0e72p-5,
       0x1.20282a19e2595p-5, 0x1.cd61daeff478bp-6, 0x1.807c8780fe2b4p-6, 0x1.59320838f6e46p-6}},
     {{-0x1.7da6f3ae00b28p-1, -0x1.7a75f20da5c81p-2, -0x1.aa7aee9d9995ap-3, -0x1.0cc1fb9250068p-3,
       -0x1.2fef558ce3b0ep-4, -0x1.51c4d5845cfacp-5, -0x1.a9346ac35c568p-6, -0x1.2429f575b8a5dp-6,
       -0x1.6e547ce9665a5p-7, -0x1.becd42134ab80p-8, -0x1.2e0d8e8736f3ap-8, -0x1.b18ed80bb5027p-9,
       -0x1.1ee56476dd76bp-9, -0x1.70023a8730dc6p-10, -0x1.ff51d4673f163p-11,
       -0x1.9c3945c784c28p-11}},
     {{0x1.2c7145f1f6a6ep-1, 0x1.dbcc4d3145277p-3, 0x1.b3c2ce42764b4p-4, 0x1.ca0ea5ce59ad9p-5,
       0x1.9771fa1be8ef7p-6, 0x1.5c35e07d45d90p-7, 0x1.617b520e1580fp-8, 0x1.9668abd6d6decp-9,
       0x1.96b314145885ap-10, 0x1.8578bf6316e8ep-11, 0x1.b230535183795p-12, 0x1.086db02216a77p-12,
       0x1.1d17ceff83aefp-13, 0x1.252b5e2f44489p-14, 0x1.53b4290891f03p-15, 0x1.ebecf5d960e3ap-16}},
     {{-0x1.997a3238def6fp-2, -0x1.0bd2af8156cc1p-3, -0x1.996ec1aebfae7p-5, -0x1.6df54b481624bp-6,
       -0x1.054265cf0cce3p-7, -0x1.5ce3c55d4e36ap-9, -0x1.2032e79fa7475p-10, -0x1.16bb27e7694aap-11,
       -0x1.bf668d5b828b0p-13, -0x1.518ce53287042p-14, -0x1.36d5934df3004p-15,
       -0x1.41a15216fb8d8p-16, -0x1.1ac2d6edf52f1p-17, -0x1.d2864986d947dp-19,
       -0x1.c2fd150772e63p-20, -0x1.2550c796ad234p-20}},
     {{0x1.f349a3720be51p-3, 0x1.13ddb89abc58ap-4, 0x1.669e33586bc88p-6, 0x1.1484495703378p-7,
       0x1.41f7dcbcc5bb3p-9, 0x1.547068ca57738p-11, 0x1.cd5b09c37216ep-13, 0x1.79362fc9925ffp-14,
       0x1.e7cd4e65f8927p-16, 0x1.22e683922a417p-17, 0x1.bb50fdd528a0ep-19, 0x1.8618fd45215a3p-20,
       0x1.17eaa1bf36d09p-21, 0x1.72bd0c3dfa8fbp-23, 0x1.2b1bd6d052654p-24, 0x1.5d8afbeb31e11p-25}},
     {{-0x1.160796c24fb6bp-3, -0x1.07c4904d00661p-5, -0x1.27b1bb411de7bp-7, -0x1.8dd258ade43fap-9,
       -0x1.7eb14fe78acb1p-11, -0x1.4414a33db64adp-13, -0x1.6ad919b598117p-15,
       -0x1.f7e6e12d4799bp-17, -0x1.079f33a7469cep-18, -0x1.f29cc8cc1e5eap-21,
       -0x1.3aea11d69f28dp-22, -0x1.d7cf9c6ad84ffp-24, -0x1.14940199d54afp-25,
       -0x1.264258cee4eddp-27, -0x1.8c6aaba6d0fe8p-29, -0x1.a042f59847b3bp-30}},
     {{0x1.1ede9fe4883f9p-4, 0x1.d91a6fec66db8p-7, 0x1.ce6b3eab62debp-9, 0x1.11da847ce2155p-10,
       0x1.b80a9b901c455p-13, 0x1.2d6e577f898afp-15, 0x1.18a1f83542137p-17, 0x1.4c6162c91650fp-19,
       0x1.1a873d0becdd5p-21, 0x1.a8fc11651d226p-24, 0x1.bdb376c2ca59bp-26, 0x1.1c868217ee6fbp-27,
       0x1.10c46855c4fb1p-29, 0x1.d28b815161332p-32, 0x1.067796ae5d530p-33, 0x1.ef5fb95712bd1p-35}},
     {{-0x1.15136b3505e4ap-5, -0x1.91155c370da96p-8, -0x1.58dadf3b1b397p-10, -0x1.6a4eff29c0fdfp-12,
       -0x1.eabb55998c6efp-15, -0x1.124c4ee740815p-17, -0x1.ab3111325141bp-20,
       -0x1.b1354609e1b16p-22, -0x1.2c4a6af72ff82p-24, -0x1.68480d03c2766p-27,
       -0x1.3a36d15d68877p-29, -0x1.5637b096b5b32p-31, -0x1.0c81d84c2d122p-33,
       -0x1.7167148534cb5p-36, -0x1.5b43730e335f4p-38, -0x1.268efc0b1d5f9p-39}},
     {{0x1.f8fe216c83e43p-7, 0x1.4365b64bb99ccp-9, 0x1.ecd4e127e094ep-12, 0x1.ce31f7013ee46p-14,
       0x1.09f4cd6ceae16p-16, 0x1.e8fd731742c7dp-20, 0x1.40307440b50b4p-22, 0x1.1705d7d10ee7cp-24,
       0x1.3c9850f09d42cp-27, 0x1.2fcfe2b29b9ddp-30, 0x1.b962499886c05p-33, 0x1.9a7ab662b0d80p-35,
       0x1.07d2d8ad7f112p-37, 0x1.24223271389d8p-40, 0x1.cb10f441edd10p-43, 0x1.5e0f5305d66e2p-44}},
     {{-0x1.b4e4a568de313p-8, -0x1.f27189abb30bdp-11, -0x1.52af5684e2e09p-13,
       -0x1.1d15a34e58ca8p-15, -0x1.18b726b8cfc05p-18, -0x1.ab626bd43790fp-22,
       -0x1.d8f3221101cd0p-25, -0x1.635f67ca0e809p-27, -0x1.4b2814a7f9cf9p-30,
       -0x1.fdb788fbb0e7fp-34, -0x1.34de6d5f166abp-36, -0x1.eb04c64196aa1p-39,
       -0x1.02bf22e2fadd3p-41, -0x1.cd7fd6c11dd60p-45, -0x1.2f2d18d3c04c5p-47,
       -0x1.9fbbfc127f7edp-49}},
     {{0x1.68a25bbe3f865p-9, 0x1.709934a731e74p-12, 0x1.c11c2b480b32bp-15, 0x1.54e923533d96dp-17,
       0x1.20fd337345279p-20, 0x1.6e9f1c94e6e04p-24, 0x1.585fa8a1417eep-27, 0x1.bfa88ed76079bp-30,
       0x1.57b59ba122fedp-33, 0x1.a963fd8ef93fdp-37, 0x1.aeb2f839ffe5ap-40, 0x1.24e3486815eddp-42,
       0x1.fa99cc326d067p-46, 0x1.6c171b64c5db5p-49, 0x1.901c146243dc9p-52, 0x1.ed6494a5263c6p-54}},
     {{-0x1.1d1c25eb8fed5p-10, -0x1.066342c9b16f0p-13, -0x1.200121ab9b195p-16,
       -0x1.8bf87546326bbp-19, -0x1.224a0db74562ap-22, -0x1.34c5c83aa6f4dp-26,
       -0x1.ee8cc17bc8d85p-30, -0x1.16e9d164f1dadp-32, -0x1.61959c122e86fp-36,
       -0x1.610477799bb20p-40, -0x1.2b20bdada81f3p-43, -0x1.5c6c4cf1f8620p-46,
       -0x1.ee7a73f07b044p-50, -0x1.1ec388866626cp-53, -0x1.07bc4608b5d73p-56,
       -0x1.24942682a007bp-58}},
     {{0x1.b1a52727aa995p-12, 0x1.68e557b2744d1p-15, 0x1.66229b455d204p-18, 0x1.bfb0946f456c7p-21,
       0x1.1d5f1fd783343p-24, 0x1.ff6401f7116acp-29, 0x1.5e70816e63e9fp-32, 0x1.581882577d190p-35,
       0x1.698bcab77380ep-39, 0x1.237398c4c92efp-43, 0x1.9e2ad99cf098fp-47, 0x1.9d6dc5b5005bfp-50,
       0x1.e2274881c60fcp-54, 0x1.c34d33f85f48bp-58, 0x1.5b62fd3ddc022p-61, 0x1.5ac170c230b78p-63}},
     {{-0x1.4677606112bf9p-13, -0x1.eaee2a3d71984p-17, -0x1.b8e89877b98fep-20,
       -0x1.f4f8d67d3e6f5p-23, -0x1.20a776b9e05fap-26, -0x1.afdeb5f1a21afp-31,
       -0x1.f7a431bb5a5c4p-35, -0x1.ac7cd21cb50c5p-38, -0x1.845f2f4e326a9p-42,
       -0x1.f1a0a245bcc69p-47, -0x1.25325d67b4cb3p-50, -0x1.f2cb638750d57p-54,
       -0x1.ef2159278221dp-58, -0x1.6f36f1b63f49ep-62, -0x1.d479f6f9bf6aep-66,
       -0x1.9bccaf3224c63p-68}},
     {{0x1.c9cd26e9ea10bp-15, 0x1.37b799804d49cp-18, 0x1.05d93c75fa8c7p-21, 0x1.0b04910100594p-24,
       0x1.127e3a1d890b0p-28, 0x1.5e4c6f27c4e33p-33, 0x1.60e34c18ebef9p-37, 0x1.ff641e0605270p-41,
       0x1.86de57e4f707dp-45, 0x1.9fec413e69d05p-50, 0x1.9151dcc5a6c43p-54, 0x1.27366ccd3ae2ap-57,
       0x1.e47e0b315a04ap-62, 0x1.2244007e630a9p-66, 0x1.37d28443c67a9p-70,
       0x1.e9ca7aceb04d1p-73}}}};

// The scaled function, x^2 and the product each have two parts.
struct Erfc {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const DoubleGroup size = Smaller(kErfcVanishes, Magnitude(x));
    const auto entries = EntriesAt<kScaledErfc>(ShiftedRight<50>(ToWords(size + 2)));
    const DoubleGroup t = size - entries[0], value = entries[1];
    const DoubleGroup slope = Slope(entries, t);
    const DoubleGroup scaled = Fused(slope, t, value), scaled_low = Fused(slope, t, value - scaled);
    const DoubleGroup square = size * size, minus_low = FusedLess(size, size, square);
    const TableExp e = ExpByTable(-square, minus_low);
    const DoubleGroup most = scaled * e.power, most_low = FusedLess(scaled, e.power, most);
    const DoubleGroup rest = Fused(scaled_low, e.power, Fused(most, e.part, -most_low));
    const DoubleGroup result = Scaled(most + rest, e.n);
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
