// SPDX-License-Identifier: Apache-2.0
//
// The error function of f64 and the cube root by polynomials on 16 pieces of their range, and the
// complement of the first by quotients of them; permutations fetch the coefficients. Levels without
// them have those of block_exp_f64.cc and block_trig_f64.cc. Largest errors seen, over some 10^7
// arguments: Erf 0.86, Erfc 1.10 and beyond 13.9 1.55, Cbrt 0.54 ULP.
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

// exp(a x^2) erfc(x) / s = f(c) + t (slope + t N(t) / D(t)), to 2^-55, on quarters of the octaves
// of kErfcPieces x + 1, of which the last reaches to where the function vanishes; a polynomial
// would need five coefficients more. The first octave comes last. The columns are c, f(c), the
// slope, N and D, which begins with 1. s and the centers are such that f(c), and s 2^(j / 16), are
// all but numbers of f64: rounding them loses a thousandth of what it could. a = log(2) /
// kMostOfLog2, so that exp(-a x^2) takes no more of log(2) than that.
constexpr double kErfcVanishes = 27.3, kErfcPieces = 0.9296875;
constexpr double kMostOfLog2 = 0x1.62e42fefap-1;  // its first 36 bits
constexpr Columns<11> kScaledErfc = {
    {{{0x1.4d6ec00e80000p+0, 0x1.d71d008340000p+0, 0x1.3065a07820000p+1, 0x1.753cc09660000p+1,
       0x1.d71d082f20000p+1, 0x1.3065a41150000p+2, 0x1.753cc43210000p+2, 0x1.ba13e400c0000p+2,
       0x1.0dfa120b48000p+3, 0x1.52d1321b70000p+3, 0x1.97a8521e30000p+3, 0x1.3999920fe8000p+4,
       0x1.d092167400000p-4, 0x1.8781031200000p-2, 0x1.4d6ec27000000p-1, 0x1.d71d01c180000p-1}},
     {{0x1.6db791b81d4b2p-2, 0x1.18256228dc96dp-2, 0x1.c312a52edabe9p-3, 0x1.782f7a821a3e2p-3,
       0x1.2f6f3084f6901p-3, 0x1.dbc5159fb431bp-4, 0x1.86aa802db0506p-4, 0x1.4b257b8a8e428p-4,
       0x1.1005204b09f08p-4, 0x1.b295d6794d4c9p-5, 0x1.69afe346dbea3p-5, 0x1.d6fee7bc7718dp-6,
       0x1.c4875347add33p-1, 0x1.5cdc580c0689dp-1, 0x1.175ff2ea6ef94p-1, 0x1.cd3a93e4dd0d2p-2}},
     {{-0x1.9587ce3e85f86p-3, -0x1.f15b77b1e6831p-4, -0x1.4af5f0c8c016ep-4, -0x1.d417fba6cc757p-5,
       -0x1.34ff7caf05984p-5, -0x1.8020803fd6f0ep-6, -0x1.0499678a3ea0dp-6, -0x1.77e0561bf78efp-7,
       -0x1.fcde91a102467p-8, -0x1.457e66c8e2badp-8, -0x1.c38197071de1bp-9, -0x1.7f7df6ba1eca3p-10,
       -0x1.db1102e117bbap-1, -0x1.36f5c6822d9c7p-1, -0x1.abae89e9aecacp-2, -0x1.32a4ddcf8adabp-2}},
     {{0x1.967c1722afdf3p-4, 0x1.9a9bce1e8288bp-5, 0x1.cc59a619e677ep-6, 0x1.17a3b656d9815p-6,
       0x1.31ca3e89fb47ep-7, 0x1.305fa519f52a4p-8, 0x1.5724147047f91p-9, 0x1.a68dbf5fa39afp-10,
       0x1.d8d3151faef87p-11, 0x1.e57b6c574e5f1p-12, 0x1.18f86209e5ea3p-12, 0x1.37d7ee56a5cb7p-14,
       0x1.8ea5745e4ba34p-1, 0x1.cbf1a435c053bp-2, 0x1.183a5c380b4dep-2, 0x1.662514e942995p-3}},
     {{0x1.469287c3e76d0p-4, 0x1.31fc3ac1d225ap-5, 0x1.3d40570e49349p-6, 0x1.642da8aa49927p-7,
       0x1.5d10a173e4f40p-8, 0x1.2b936aa8ef753p-9, 0x1.268027e5ef120p-10, 0x1.3fe91ff4aaeb0p-11,
       0x1.312022b80d3dfp-12, 0x1.01e588fb75dc0p-13, 0x1.f999e037ce932p-15, 0x1.7630869817891p-17,
       0x1.6f91c62253480p-1, 0x1.9cb086369fa48p-2, 0x1.e7ff00c8422fap-3, 0x1.2dddb7072d7d9p-3}},
     {{0x1.7fc5dfcf59bb5p-6, 0x1.4694be793f7fep-7, 0x1.347a6c283ea58p-8, 0x1.3c8eed7b83a8ep-9,
       0x1.12fbe7534afedp-10, 0x1.92e431d1d08dcp-12, 0x1.572bf16d300eap-13, 0x1.4771cb23f0ef6p-14,
       0x1.0928d741a3321p-15, 0x1.6fc553eeef676p-17, 0x1.30b752840c236p-18, 0x1.2bf5ef548e4c0p-21,
       0x1.0e4b23e1e1913p-2, 0x1.1fa45d8ec87adp-3, 0x1.42f505477ada6p-4, 0x1.7bdf56c1e855bp-5}},
     {{0x1.4329a3ebb17e5p-9, 0x1.ed6c58acc8d9ep-11, 0x1.a44c82f21c031p-12, 0x1.86fdd03f5897fp-13,
       0x1.2a59af7667d50p-14, 0x1.71d64e9c5cda5p-16, 0x1.0f57a4810cd03p-17, 0x1.c500f7a22ee15p-19,
       0x1.3644b1544e9cfp-20, 0x1.5ff4b3ff93afcp-22, 0x1.ec0b034161fccp-24, 0x1.414788670883dp-27,
       0x1.2599919e1791bp-5, 0x1.264069f982534p-6, 0x1.377d8d1870013p-7, 0x1.59d8ae0a1ef0ap-8}},
     {{0x1.43ea67384d94fp+0, 0x1.22244f4587e40p+0, 0x1.0559ff78a91a5p+0, 0x1.d97f5107ed9fap-1,
       0x1.9f9544f04d50fp-1, 0x1.5f99169866b62p-1, 0x1.2eec988e9a9fcp-1, 0x1.0917326082ce8p-1,
       0x1.c09170d5cacd2p-2, 0x1.6f095fc682829p-2, 0x1.35c03845a6101p-2, 0x1.9b222fdd69832p-3,
       0x1.a411c8729a2b8p+0, 0x1.8b37b29f8c80ap+0, 0x1.743a786b01a23p+0, 0x1.5efc040826ca3p+0}},
     {{0x1.3e1556263ae76p-1, 0x1.fbd8ed96bb123p-2, 0x1.9a4c407fc4828p-2, 0x1.4f790cb8efe01p-2,
       0x1.015e9fb41e2e4p-2, 0x1.6edc6cdcc3762p-3, 0x1.0f80694cdf80ep-3, 0x1.9ef31421bc123p-4,
       0x1.286ad07e62c98p-4, 0x1.8c335ed8bd854p-5, 0x1.19df61f881cdep-5, 0x1.efd2a93b5cb82p-7,
       0x1.0f3115e228edcp+0, 0x1.de717a5cbfd99p-1, 0x1.a70240e37a243p-1, 0x1.76f0d366f4572p-1}},
     {{0x1.203299a63bf32p-3, 0x1.97b0833d89838p-4, 0x1.25fc4c9ed7321p-4, 0x1.b02b07202cb38p-5,
       0x1.2080218674278p-5, 0x1.58d331026dcd1p-6, 0x1.b5035363dc9a2p-7, 0x1.22f7c09994d7cp-7,
       0x1.5e3aa8266a576p-8, 0x1.7da5d6349448ep-9, 0x1.c9490159dd359p-10, 0x1.0a17237209eb3p-11,
       0x1.4863cfa21ba38p-2, 0x1.0e786f0df9140p-2, 0x1.bf370e8ce8223p-3, 0x1.73426b6cfc62fp-3}},
     {{0x1.9815bba880808p-7, 0x1.fbfd47c224473p-8, 0x1.451d3ab3bd5c3p-8, 0x1.abac000e6d87bp-9,
       0x1.ee5c02a7c6e84p-10, 0x1.ecf42accf2010p-11, 0x1.0a8db942d30eap-11, 0x1.348795fc9054dp-12,
       0x1.382d5824165eep-13, 0x1.14cff89d1d825p-14, 0x1.16fbe806e7c25p-15, 0x1.acf0a1aae6081p-18,
       0x1.3ceed9dc28a1fp-5, 0x1.e4f9b4e3a13ebp-6, 0x1.75226e06298c6p-6, 0x1.20d72931a88b0p-6}}}};
constexpr Columns<1> kErfcPower = {
    {{{0x1.0001502fc2c00p+0, 0x1.0b56e5e1b9948p+0, 0x1.172cf265076b8p+0, 0x1.238925bfc4e24p+0,
       0x1.3071706ebe6acp+0, 0x1.3dec064017623p+0, 0x1.4bff614e4641fp+0, 0x1.5ab2451cd88e6p+0,
       0x1.6a0bc1d87d619p+0, 0x1.7a1337bbe6637p+0, 0x1.8ad05a9b20b52p+0, 0x1.9c4b359719d08p+0,
       0x1.ae8c2efb17ab9p+0, 0x1.c19c0c45ff974p+0, 0x1.d583f6615c5e7p+0, 0x1.ea4d7e082a259p+0}}}};

constexpr double kSixteenthShift = 0x1.8p+48;  // moves sixteenths into the low bits

// exp(-a x^2) = 2^n 2^(j / 16) (1 + part). Neither x^2 nor the product of both values is rounded.
struct Erfc {
  static constexpr int kSteps = 3, kKept = 6;
  static constexpr bool kCentersFirst = PJRT_VECTOR_BYTES == 64;  // rows are better read at once
  PJRT_INLINE void Begin(DoubleGroup x, Kept kept) {
    const DoubleGroup size = Smaller(kErfcVanishes, Magnitude(x));
    const DoubleGroup in_last = Smaller(15.5, Fused(size, kErfcPieces, 1));
    const WordGroup places = ShiftedRight<50>(ToWords(in_last));
    const DoubleGroup shifted = FusedLess(size * size, 0x1.71547652b82fep+0, kSixteenthShift);
    const DoubleGroup n = shifted - kSixteenthShift;
    kept.Put(0, FusedLess(size, size, n * -kMostOfLog2));
    kept.Put(1, kCentersFirst ? size - EntriesAt<kScaledErfc>(places)[0] : size);
    kept.Put(2, ToDoubles(places));
    kept.Put(3, shifted);
    kept.Put(4, n);
  }
  PJRT_INLINE void Go(Kept kept) {
    const auto entries = EntriesAt<kScaledErfc>(ToWords(kept[2]));
    const DoubleGroup r = kept[0], t = kCentersFirst ? kept[1] : kept[1] - entries[0];
    DoubleGroup above = entries[6], below = entries[10];
#pragma GCC unroll 3
    for (int i = 5; i > 2; --i) above = Fused(above, t, entries[i]);
#pragma GCC unroll 3
    for (int i = 9; i > 6; --i) below = Fused(below, t, entries[i]);
    const DoubleGroup quotient = above / Fused(below, t, 1);
    // exp(a r) - 1, to 2^-56.
    const DoubleGroup p45 = Fused(r, 0x1.6c181fa14782dp-10, 0x1.11126f465ee46p-7);
    const DoubleGroup p23 = Fused(Fused(p45, r, 0x1.55555554bad63p-5), r, 0x1.555555540eed4p-3);
    const DoubleGroup p = Fused(Fused(p23, r, 0x1.0000000005398p-1), r, 0x1.00000000029d4p+0);
    const DoubleGroup slope = Fused(quotient, t, entries[2]), value = entries[1];
    kept.Put(0, value);
    kept.Put(1, slope * t);
    kept.Put(2, Fused(slope, t, value));
    kept.Put(5, p * r);
  }
  PJRT_INLINE DoubleGroup End(DoubleGroup x, Kept kept) {
    const DoubleGroup power = EntriesAt<kErfcPower>(ToWords(kept[3]))[0];
    const DoubleGroup rest = Fused(kept[2], kept[5], kept[1]) * power;
    const DoubleGroup result = Scaled(Fused(kept[0], power, rest), kept[4]);
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
  BesideEntry(k, BlockOp::kErf, CType::kF64) = DoublesLoop<Erf>;
  BesideEntry(k, BlockOp::kErfc, CType::kF64) = LoopInSteps<Erfc>;
  BesideEntry(k, BlockOp::kCbrt, CType::kF64) = DoublesLoop<Cbrt>;
}
#else
void FillPiecesF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
