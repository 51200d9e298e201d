// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/custom_calls/json_config.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pjrt::cpu {
namespace {

template <typename T>
T Get(const custom_call::Dict& dict, const char* name) {
  const custom_call::Attribute* attribute = dict.Find(name);
  EXPECT_NE(attribute, nullptr) << name;
  const T* value = attribute != nullptr ? attribute->As<T>() : nullptr;
  EXPECT_NE(value, nullptr) << name;
  return value != nullptr ? *value : T();
}

TEST(JsonConfig, ReadsEachKindOfValue) {
  const auto dict = ParseJsonConfig(R"( {"i": -7, "d": 1.5e1, "big": 9223372036854775808, "t": true,
    "f" : false, "s": "a\"\u00e9\ud83d\ude00\n", "n": null, "ints": [1, 2], "reals": [0.5, 2.0],
    "mixed": [1, 0.5, "x"], "none": [], "o": {"p": {}}} )");
  ASSERT_TRUE(dict.has_value());
  EXPECT_EQ(dict->size(), 11u);
  EXPECT_EQ(Get<int64_t>(*dict, "i"), -7);
  EXPECT_EQ(Get<double>(*dict, "d"), 15);
  EXPECT_EQ(Get<double>(*dict, "big"), 9223372036854775808.0);
  EXPECT_TRUE(Get<bool>(*dict, "t"));
  EXPECT_FALSE(Get<bool>(*dict, "f"));
  EXPECT_EQ(Get<std::string>(*dict, "s"), "a\"\xC3\xA9\xF0\x9F\x98\x80\n");
  EXPECT_EQ(dict->Find("n"), nullptr);
  EXPECT_EQ(Get<std::vector<int64_t>>(*dict, "ints"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Get<std::vector<double>>(*dict, "reals"), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(Get<std::vector<custom_call::Attribute>>(*dict, "mixed").size(), 3u);
  EXPECT_TRUE(Get<std::vector<custom_call::Attribute>>(*dict, "none").empty());
  EXPECT_EQ(Get<custom_call::Dict>(*dict, "o").size(), 1u);
  EXPECT_EQ(ParseJsonConfig("{}")->size(), 0u);
}

TEST(JsonConfig, IsNothingElse) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{\"a\":";
  for (const std::string& text : std::vector<std::string>{"",
                                                          "1,1,100,1e-6",
                                                          "[1]",
                                                          "{",
                                                          "{\"a\"}",
                                                          "{\"a\": }",
                                                          "{\"a\": 1,}",
                                                          "{\"a\": 1} x",
                                                          "{\"a\": 1e}",
                                                          "{\"a\": -}",
                                                          "{\"a\": \"x}",
                                                          "{\"a\": \"\\q\"}",
                                                          "{\"a\": \"\\u12\"}",
                                                          "{\"a\": \"\\ud800\"}",
                                                          "{\"a\": [1, ]}",
                                                          "{\"a\": [1}",
                                                          "{a = 1 : i64}",
                                                          "{\"a\": 1 2}",
                                                          "{\"a\": \"\\",
                                                          deep}) {
    EXPECT_FALSE(ParseJsonConfig(text).has_value()) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace pjrt::cpu
