// SPDX-License-Identifier: Apache-2.0
//
// CHLO's special functions in f64 where they are hard: beside zeros at negative arguments, near
// overflow, at the joints of approximations. The expected values are those of arithmetic with 240
// bits, rounded.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/element_values.h"
#include "tests/cpu/level_test.h"

namespace pjrt::cpu {
namespace {

struct Point {
  double x, value;
};
struct Point2 {
  double x, y, value;
};

// Each within three units in the last place.
void ExpectClose(const std::string& what, double actual, double expected) {
  if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << what;
    return;
  }
  const double unit = std::nextafter(std::fabs(expected), kInf) - std::fabs(expected);
  EXPECT_LE(std::fabs(actual - expected), 3 * unit)
      << what << " is " << actual << ", expected " << expected;
}

std::string Program(absl::string_view op, size_t count, bool two) {
  const std::string type = TensorText({static_cast<int64_t>(count)}, "f64");
  return absl::StrCat("func.func @main(%x: ", type, two ? absl::StrCat(", %y: ", type) : "",
                      ") -> ", type, " {\n  %z = chlo.", op, two ? " %x, %y : " : " %x : ", type,
                      two ? absl::StrCat(", ", type) : "", " -> ", type, "\n  return %z : ", type,
                      "\n}\n");
}

class ChloHardPointsTest : public LevelTest {
 protected:
  std::vector<double> Run(absl::string_view op, const std::vector<std::vector<double>>& operands) {
    const size_t count = operands[0].size();
    std::vector<Literal> arguments;
    for (const std::vector<double>& operand : operands) {
      arguments.push_back(Array<double>({static_cast<int64_t>(count)}, operand));
    }
    std::vector<const Literal*> pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    const auto results = RunProgram(client(), Program(op, count, operands.size() == 2), pointers);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? Elements<double>(*(*results)[0]) : std::vector<double>(count);
  }

  void Check(absl::string_view op, const std::vector<Point>& points) {
    std::vector<double> x;
    for (const Point& point : points) x.push_back(point.x);
    const std::vector<double> z = Run(op, {x});
    ASSERT_EQ(z.size(), points.size());
    for (size_t i = 0; i < z.size(); ++i)
      ExpectClose(absl::StrCat(op, "(", x[i], ")"), z[i], points[i].value);
  }

  void Check(absl::string_view op, const std::vector<Point2>& points) {
    std::vector<double> x, y;
    for (const Point2& point : points) {
      x.push_back(point.x);
      y.push_back(point.y);
    }
    const std::vector<double> z = Run(op, {x, y});
    ASSERT_EQ(z.size(), points.size());
    for (size_t i = 0; i < z.size(); ++i)
      ExpectClose(absl::StrCat(op, "(", x[i], ", ", y[i], ")"), z[i], points[i].value);
  }
};

INSTANTIATE_TEST_SUITE_P(Levels, ChloHardPointsTest, EachLevel(), LevelName);

TEST_P(ChloHardPointsTest, LgammaKeepsItsDigitsBesideZerosAndPolesOfNegativeNumbers) {
  Check("lgamma", std::vector<Point>{{-2.4570247382208006, 5.619192358950097e-17},
                                     {-2.7476826467274127, 1.733509244024501e-16},
                                     {-3.14358088834998, 1.6978655906121085e-15},
                                     {-3.955294284858598, -4.14382750757705e-16},
                                     {-4.039361839740537, -5.664578074060335e-15},
                                     {-4.991544640560048, 1.7683619350849613e-14},
                                     {-5.0082181683225935, 5.4188509265538106e-15},
                                     {-5.998607480080875, -2.3721063667118474e-13},
                                     {-6.001385294453155, -4.6433836942838004e-14},
                                     {-6.999801507890638, 5.313011065735902e-14},
                                     {-7.000198333407325, -1.263203743493977e-12},
                                     {-7.999975197095821, -2.1213071311827735e-12},
                                     {-8.000024800270682, 1.75595561986039e-11},
                                     {-8.999997244250977, -8.050618056741812e-11},
                                     {-9.000002755714823, 3.444263328391509e-11},
                                     {-9.99999972442663, 1.7719543958825935e-09},
                                     {-17.000000000000004, -0.2340087832595242},
                                     {-18.0, kInf},
                                     {-2.5, -0.056243716497674054},
                                     {-2.6, -0.11801163280539748},
                                     {-3.5, -1.309006684993042},
                                     {-0.5, 1.2655121234846454},
                                     {-1.5, 0.860047015376481},
                                     {-10.25, -14.20399790093109},
                                     {-19.000000000000004, -6.06881952032213},
                                     {-20.000000000000004, -9.06455179387612},
                                     {-24.999999999999996, -24.732540556103135},
                                     {-29.5, -71.80874129832},
                                     {-29.999999999999996, -41.38717168195278},
                                     {-30.5, -75.22646798193337},
                                     {-45.3, -128.9135749379055},
                                     {-1e-200, 460.51701859880916},
                                     {-5e-324, 744.4400719213812},
                                     {-1e-300, 690.7755278982137},
                                     {-0.9999999999999999, 36.7368005696771}});
}

TEST_P(ChloHardPointsTest, DigammaKeepsItsDigitsBesideZerosAndPolesOfNegativeNumbers) {
  Check("digamma", std::vector<Point>{{1.4616321449683622, -9.241265521729427e-17},
                                      {-0.5040830082644554, 7.289763902976895e-17},
                                      {-1.5734984731623904, 1.5649788481838454e-16},
                                      {-2.6107208684441447, -1.0720275936410002e-15},
                                      {-3.635293366436901, -6.354883894064686e-16},
                                      {-4.653237761743142, 3.1533529982387494e-15},
                                      {-5.6671624415568855, 4.1867794464524804e-17},
                                      {-6.678418213073427, -4.72682938045534e-15},
                                      {-14.727334416018529, 6.305749002764493e-16},
                                      {-30.76453858671817, 2.288913282845823e-14},
                                      {-62.793662517976045, -4.0572447495144014e-14},
                                      {-0.5040830082644553, 1.0654146585779509e-15},
                                      {-1.5734984731623902, 2.3639573480230873e-15},
                                      {-2.6107208684441443, 3.7455981709934854e-15},
                                      {-3.6352933664369007, 4.5385680648323184e-15},
                                      {-4.653237761743141, 1.4139798524607156e-14},
                                      {-0.5, 0.03648997397857652},
                                      {-1.25, 3.714139120213528},
                                      {-9.999999999999998, -562949953421309.6},
                                      {-10.5, 2.3982391295357814},
                                      {-40.75, 0.5780829439704547},
                                      {-63.9, -5.503704311225734},
                                      {-64.5, 4.174397131420145},
                                      {-1e-300, 9.999999999999999e+299},
                                      {-1e-308, 1e+308},
                                      {-1000.3, 9.191055669255658}});
}

TEST_P(ChloHardPointsTest, DigammaKeepsItsDigitsFarToTheLeftOfZero) {
  Check("digamma", std::vector<Point>{{-64.79480675310009, -2.4895996847967033e-11},
                                      {-65.79536182765476, -2.128960618457379e-11},
                                      {-100.80985503764646, 9.833817365636197e-12},
                                      {-127.81717272937522, 7.059154299637356e-12},
                                      {-128.817404695635, 7.44902454494805e-12},
                                      {-1000.8641588557814, 1.7752260239314121e-12},
                                      {-1569.8715684433241, -7.012656372738161e-15},
                                      {-1965.8749921566869, 2.9129502631151136e-15},
                                      {-2977.8808777877402, 1.3170578140239663e-16},
                                      {-4096.885052141498, -2.9003688060189005e-11},
                                      {-65535.91213355907, -1.1065754177150273e-10},
                                      {-1000003.928827882, 3.2487855175114852e-09},
                                      {-2147483648.9537888, 4.9881906789052774e-05},
                                      {-35184372088837.97, -0.7055023751597067},
                                      {-64.00000000000001, 70368744177668.17},
                                      {-64.25, 7.3121362919885415},
                                      {-64.99999999999999, -70368744177659.82},
                                      {-1000.5, 6.908754820898672},
                                      {-123456.0625, 27.517497468101322},
                                      {-999999.999, -986.1811515751322},
                                      {-2251799813685248.5, 35.35050620855721}});
  const std::vector<double> poles = {-64.0, -65.0, -4503599627370496.0, -1e300, -kInf, 0.0, -0.0};
  for (double value : Run("digamma", {poles})) EXPECT_TRUE(std::isnan(value));
}

TEST_P(ChloHardPointsTest, ErfInvIsCloseInEachOfItsParts) {
  Check("erf_inv", std::vector<Point>{{0.13495435632738406, 0.12017622764137359},
                                      {0.47, 0.4440673114347423},
                                      {0.68, 0.7031879128220362},
                                      {0.7, 0.7328690779592167},
                                      {0.83, 0.970294618513009},
                                      {0.845, 1.0055697880142005},
                                      {0.9999999, 3.7665625816384707},
                                      {0.99999993, 3.8121336143195252},
                                      {0.999999999, 4.320005388105362},
                                      {0.9999999999999999, 5.8635847487551676},
                                      {-0.1349, -0.12012735512302541},
                                      {1e-300, 8.86226925452758e-301}});
}

TEST_P(ChloHardPointsTest, HyperbolicFunctionsAreCloseUpToTheirOverflow) {
  Check("sinh", std::vector<Point>{{710.4749999999996, 1.7961476505477055e+308},
                                   {709.5, 6.774931596573164e+307},
                                   {-710.2, -1.3643036845527107e+308},
                                   {710.4758600739439, 1.7976931348621744e+308},
                                   {700.1, 5.604498855366305e+303}});
  Check("cosh", std::vector<Point>{{710.4749999999996, 1.7961476505477055e+308},
                                   {709.5, 6.774931596573164e+307},
                                   {-710.2, 1.3643036845527107e+308},
                                   {710.4758600739439, 1.7976931348621744e+308},
                                   {700.1, 5.604498855366305e+303}});
}

TEST_P(ChloHardPointsTest, ZetaAndPolygammaTakeNegativeNumbersAndLargeFactorials) {
  Check("zeta",
        std::vector<Point2>{{2.0, -0.5, 8.934802200544679},
                            {2.0, -8.25, 19.62504691762201},
                            {8.0, -9.057653164086005, 8192469332.870593},
                            {5.0, -8.561, 43.39138935745382},
                            {3.0, -7.9, 999.3368914325873},
                            {9.0, -7.3, -50780.56879928296},
                            {2.0, -59.7, 15.062802789054615},
                            {4.0, -0.001, 1000000000001.0864},
                            {2.0, 0.5, 4.934802200544679},
                            {1.5, 3.25, 1.2012173113703717},
                            {100.0, 1.5, 2.4596544265798292e-18},
                            {117.44865592593129, 32.67764342171293, 1.4659294762404298e-178},
                            {25.74641753214672, 31.941970289347534, 3.442871620266718e-39},
                            {15.26943122794119, 15.07541115311504, 1.6716095797496022e-18}});
  Check("polygamma", std::vector<Point2>{{1.0, -0.5, 8.934802200544679},
                                         {1.0, -7.75, 19.61814433435229},
                                         {2.0, -8.893, -1631.1662949913905},
                                         {3.0, -7.84, 9171.677362649452},
                                         {5.0, -8.4118, 27528.62408469933},
                                         {1.0, -30.1, 103.32316227902109},
                                         {169.0, 175.7, 1.6919470597116713e-77},
                                         {168.0, 86.09, -2.8989115837297716e-25},
                                         {150.0, 0.75, -4.194137254402216e+281},
                                         {1.0, 10000000000.0, 1.00000000005e-10},
                                         {4.0, 1e-30, -2.399999999999999e+151},
                                         {170.0, 1.25, -1.9461206927563163e+290},
                                         {1.0, 2.5, 0.49035775610023485},
                                         {7.0, 3.75, 0.15436902018887794},
                                         {5.0, 1.8514128308419096e+16, 1.1033032455833207e-80},
                                         {29.0, 2042.9362110911604, 3.089089570233944e-67}});
}

TEST_P(ChloHardPointsTest, ZetaAndPolygammaAreCloseAtHalvesBetweenNegativeIntegers) {
  Check("zeta", std::vector<Point2>{{15.0, -7.5, 1.4262453228917688e-14},
                                    {11.0, -11.5, 1.5652153644640432e-12},
                                    {9.0, -20.5, 3.282559576524661e-12},
                                    {7.0, -29.500000000000007, 2.5364997672145394e-10},
                                    {3.0, -0.5, 0.41439832211716},
                                    {3.0, -1.5, 0.1181020258208637},
                                    {5.0, -0.25, -1019.7166414243576},
                                    {3.0, -0.75, 62.29349959839809},
                                    {11.0, -0.49999999222730934, 0.01090365927155483},
                                    {200.0, -2.5, 3.2138760885179806e+60}});
  Check("polygamma", std::vector<Point2>{{8.0, -28.5, -1.003923171927419e-08},
                                         {12.0, -7.500000000000007, -1.4503685238446098},
                                         {2.0, -0.5, -0.82879664423432},
                                         {4.0, -1.5, -0.3137559995067314},
                                         {2.0, -3.25, 123.95521103942203}});
}

TEST_P(ChloHardPointsTest, ZetaAndPolygammaKeepTheirDigitsBesideZeros) {
  Check("zeta", std::vector<Point2>{{3.0, -0.4957156769130384, 2.1796878806738668e-15},
                                    {3.0, -1.4987861940097746, 9.833226342180974e-15},
                                    {3.0, -2.4994443912584825, 1.0021962873229466e-15},
                                    {3.0, -17.499984169609288, -9.894347742959793e-14},
                                    {3.0, -300.49999994334524, -5.830220077561045e-13},
                                    {3.0, -16000.49999999998, 3.833731955683991e-12},
                                    {5.0, -0.49977397564859133, 1.3028731704595687e-15},
                                    {5.0, -1.4999796019265712, -1.8257224126285098e-14},
                                    {5.0, -40.499999999862034, 1.8483769984761262e-12},
                                    {7.0, -0.49998316028345724, 9.12727010814236e-14},
                                    {7.0, -12.499999999990466, 2.0756177658648442e-12},
                                    {9.0, -0.4999985737570459, -3.316876756365266e-13},
                                    {9.0, -3.4999999999127933, -4.0693660427608475e-12},
                                    {11.0, -0.499999871226233, 4.005009613874261e-13},
                                    {13.0, -1.4999999999840394, -1.8023075581384964e-11},
                                    {15.0, -0.4999999988379216, -1.1763728699916035e-11},
                                    {17.0, -2.5, 5.715696044199507e-10},
                                    {19.0, -0.4999999999886784, 9.072225920503676e-10},
                                    {21.0, -0.4999999999988619, 3.433071868823192e-09},
                                    {23.0, -0.49999999999988454, -3.4518491420254524e-09},
                                    {25.0, -0.4999999999999882, -7.210102120269301e-08},
                                    {27.0, -0.4999999999999988, -1.0161568524092008e-07},
                                    {29.0, -0.4999999999999999, 9.085066647951264e-07},
                                    {31.0, -0.5, 3.476730495079927e-06},
                                    {3.0, -0.5, 0.41439832211716},
                                    {3.0, -0.44, -5.669988291913326},
                                    {3.0, -0.445, -5.120356151170125},
                                    {29.0, -0.4997, -18684150.274821755},
                                    {29.0, -0.4998, -12455714.055048313},
                                    {5.0, -3.51, 6.428130085570047},
                                    {5.0, -3.53, 19.71893168761806},
                                    {3.0, -1125899906842624.5, 3.944304526105052e-31},
                                    {29.0, -1000000.5, 3.5713285727577275e-170}});
  Check("polygamma", std::vector<Point2>{{2.0, -0.4957156769130384, -4.3593757613477336e-15},
                                         {2.0, -5.499858384896918, 2.5009947910261233e-14},
                                         {4.0, -0.49977397564859133, -3.1268956091029646e-14},
                                         {4.0, -2.4999955795487976, 6.626218124730392e-14},
                                         {6.0, -1.4999994893184863, -1.9839224771712122e-10},
                                         {8.0, -0.4999985737570459, 1.3373647081664752e-08},
                                         {12.0, -0.4999999879220124, -0.0014615759606012577},
                                         {20.0, -0.4999999999988619, -8352327443.874675},
                                         {28.0, -0.4999999999999999, -2.769930930980953e+23},
                                         {30.0, -0.5, -9.222127066162056e+26}});
}

TEST_P(ChloHardPointsTest, ZetaAndPolygammaAreCloseWhereTheSidesOfZeroNearlyCancel) {
  Check("zeta", std::vector<Point2>{{7.0, -33.507958637113184, 28.615025351875715},
                                    {13.0, -9.508178476983163, 3516.6441434201333},
                                    {23.0, -57.49881610205895, -914187.8771342123},
                                    {3.0, -1e-101, -9.999999999999998e+302},
                                    {21.0, -0.99, 9.999999999999813e+41}});
  Check("polygamma", std::vector<Point2>{{4.0, -77.5161464103622, -250.18525852039593},
                                         {18.0, -2.4989040900871444, 2.79669705804142e+20},
                                         {12.0, -0.8884551265301467, -1.1574226225600834e+21},
                                         {22.0, -1.502801238879689, -2.437569356959965e+27}});
}

TEST_P(ChloHardPointsTest, PolygammaIsFiniteWhereTheFactorialIsNot) {
  Check("polygamma", std::vector<Point2>{{171.0, 50.0, 7.68463533073426e+16},
                                         {171.0, 64.0, 0.028986656960714664},
                                         {172.0, 115.26087044629602, -5.876992186936946e-46},
                                         {172.0, -2.5, -1.6052211731871423e+217},
                                         {175.0, 2143.8430358161845, 7.357594661864156e-268},
                                         {200.0, 60.5, -6.03247369096781e+16},
                                         {300.0, 100.25, -1520209895787.1658},
                                         {1000.0, 400.0, -9.54632866022891e-38},
                                         {2638.0, 1231.0626525753744, -3.7040573925044954e-274},
                                         {1000.0, 1.0, -kInf},
                                         {201.0, -0.68, kInf},
                                         {231.0, -1.066, kInf},
                                         {188.0, -0.25, kInf},
                                         {188.0, -0.75, -kInf},
                                         {171.0, 171.0, 1.6510804421365765e-75},
                                         {171.0, 172.0, 6.076893665283826e-76},
                                         {220.0, 2144.0010265991373, -1.4751707944e-314},
                                         {197.0, 2648.893918840716, 2.38893795439606e-309},
                                         {261.0, 1620.6033908657262, 7.8e-322},
                                         {1001.0, 0.0, kInf},
                                         {1e12, 2.0, -kInf}});
}

TEST_P(ChloHardPointsTest, ErrorAndBesselFunctionsAreCloseInEachOfTheirParts) {
  Check("erfc", std::vector<Point>{{8.290116334992739, 9.603405020699987e-32},
                                   {14.039959920646119, 9.877115251383524e-88},
                                   {17.345717530303226, 6.976414892164374e-133},
                                   {23.805977545309748, 1.7742081310914834e-248},
                                   {0.5482852309895447, 0.4381078188746204}});
  Check("bessel_i1e", std::vector<Point>{{4.46126397968893, 0.17153266416174054},
                                         {3.817772541268086, 0.18180367485858914},
                                         {4.0, 0.17875083950243534},
                                         {4.000000000000001, 0.1787508395024353},
                                         {7.892299421215961, 0.13495507749189128},
                                         {-2.528208600527641, -0.20604247462923203}});
}

// Only arrays with such numbers take the longer way; the others must not notice.
TEST_P(ChloHardPointsTest, PolesAndNumbersThatAreNotNegativeStayAsTheyAreBesideNegativeOnes) {
  const std::vector<double> x = {-0.5, 0.0, -1.0, -3.0, 2.5, kInf, -kInf, 1.0};
  const std::vector<double> lgamma = Run("lgamma", {x}), digamma = Run("digamma", {x});
  ASSERT_EQ(lgamma.size(), 8u);
  for (size_t i : {1, 2, 3, 5, 6}) EXPECT_EQ(lgamma[i], kInf) << x[i];
  EXPECT_EQ(lgamma[7], 0);
  ASSERT_EQ(digamma.size(), 8u);
  for (size_t i : {1, 2, 3}) EXPECT_TRUE(std::isnan(digamma[i])) << x[i];
  EXPECT_EQ(digamma[5], kInf);
  for (double y : {-0.5, -2.25, 3.5}) {
    const Literal scalar = Array<double>({}, {y});
    const std::string program =
        "func.func @main(%x: tensor<f64>) -> tensor<f64> {\n  %z = chlo.lgamma %x : tensor<f64> -> "
        "tensor<f64>\n  return %z : tensor<f64>\n}\n";
    ExpectClose("lgamma of a scalar", RunOne<double>(program, {&scalar})[0], std::lgamma(y));
  }
}

// The longer ways are taken by whole arrays, scalars and empty ones among them.
TEST_P(ChloHardPointsTest, NumbersBesideZerosHaveTheSameBitsInArraysOfAnySize) {
  const std::vector<double> zeros = {-0.4957156769130384, -1.4987861940097746, -17.499984169609288,
                                     -100.80985503764646, -4096.885052141498};
  std::vector<double> zeta, digamma;
  for (double zero : zeros) {
    zeta.push_back(Run("zeta", {{3.0}, {zero}})[0]);
    digamma.push_back(Run("digamma", {{zero}})[0]);
  }
  for (size_t count : {0, 2, 7, 17, 1025}) {
    std::vector<double> x(count);
    for (size_t i = 0; i < count; ++i) x[i] = zeros[i % zeros.size()];
    const std::vector<double> z = Run("zeta", {std::vector<double>(count, 3.0), x});
    const std::vector<double> d = Run("digamma", {x});
    ASSERT_EQ(z.size(), count);
    ASSERT_EQ(d.size(), count);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(z[i], zeta[i % zeros.size()]) << x[i] << " of " << count;
      EXPECT_EQ(d[i], digamma[i % zeros.size()]) << x[i] << " of " << count;
    }
  }
  const std::string scalars =
      "func.func @main(%s: tensor<f64>, %x: tensor<f64>) -> (tensor<f64>, tensor<f64>) {\n"
      "  %z = chlo.zeta %s, %x : tensor<f64>, tensor<f64> -> tensor<f64>\n"
      "  %d = chlo.digamma %x : tensor<f64> -> tensor<f64>\n"
      "  return %z, %d : tensor<f64>, tensor<f64>\n}\n";
  for (size_t i = 0; i < zeros.size(); ++i) {
    const Literal s = Scalar<double>(3.0), x = Scalar<double>(zeros[i]);
    const auto results = RunProgram(client(), scalars, {&s, &x});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(Elements<double>(*(*results)[0])[0], zeta[i]) << zeros[i];
    EXPECT_EQ(Elements<double>(*(*results)[1])[0], digamma[i]) << zeros[i];
  }
}

}  // namespace
}  // namespace pjrt::cpu
