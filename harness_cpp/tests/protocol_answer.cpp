// Answers as text.
#include <limits>

#include "check.hpp"
#include "protocol/answer.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

TEST("an answer without a fault is ok, and one line") {
  Answer answer;
  answer.id = "a", answer.nonce = "n", answer.device = "sim";
  answer.steps = {FillAnswer{}, ReadAnswer{8}};
  CHECK_EQUAL(std::string(R"({"protocol":1,"id":"a","nonce":"n","status":"ok","device":"sim",)"
                          R"("steps":[{"do":"fill"},{"do":"read","bytes":8}]})"),
              text_of(answer));
}

TEST("a fault names its step, place and element, and leaves out what it does not know") {
  FaultDetail detail;
  detail.kind = FaultKind::illegal_address;
  detail.message = "m";
  detail.at = SourcePoint{"k.cu", 3};
  detail.inlined_from = {{"k.cu", 9}};
  detail.element = -1;
  detail.block = Dim3{3, 0, 0};
  Answer answer;
  answer.fault = FaultAnswer{2, detail};
  CHECK_EQUAL(
      std::string(R"({"protocol":1,"id":"","nonce":"","status":"fault","steps":[],)"
                  R"("fault":{"kind":"illegal_address","step":2,"message":"m","file":"k.cu",)"
                  R"("line":3,"inlined_from":[{"file":"k.cu","line":9}],"element":-1,)"
                  R"("block":[3,0,0]}})"),
      text_of(answer));
}

TEST("a request at fault is invalid, whichever step found out") {
  Answer answer;
  answer.fault = FaultAnswer{1, Fault(FaultKind::invalid_request, "m").detail()};
  CHECK(answer.status() == Status::invalid);
}

TEST("a number JSON cannot hold is an error of the harness, never null") {
  Measurement measurement;
  measurement.median_ns = std::numeric_limits<double>::quiet_NaN();
  Answer answer;
  answer.steps = {MeasureAnswer{measurement}};
  CHECK_THROWS(Fault, text_of(answer));
}

TEST("bytes that are no UTF-8 do not stop an answer") {
  Answer answer;
  answer.fault = FaultAnswer{std::nullopt, Fault(FaultKind::trap, "\xff").detail()};
  CHECK(text_of(answer).find("\xef\xbf\xbd") != std::string::npos);
}

TEST("measured and modelled latencies have different keys") {
  Measurement measurement;
  measurement.median_ns = 1.5;
  measurement.bound = "dram";
  measurement.terms_ns = {{"launch", 1.0}, {"dram", 0.5}};
  Answer answer;
  answer.steps = {MeasureAnswer{measurement}};
  const std::string modelled = text_of(answer);
  CHECK(
      modelled.find(
          R"("kind":"modelled","latency":{"median_ns":1.5,"bound":"dram","terms_ns":{"launch":1.0,"dram":0.5})") !=
      std::string::npos);
  measurement.kind = Measurement::Kind::measured;
  measurement.samples_ns = {1.0, 2.0};
  answer.steps = {MeasureAnswer{measurement}};
  CHECK(text_of(answer).find(
            R"("kind":"measured","latency":{"median_ns":1.5,"samples_ns":[1.0,2.0]})") !=
        std::string::npos);
}
