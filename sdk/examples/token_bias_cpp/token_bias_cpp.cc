/* SPDX-License-Identifier: Apache-2.0 */
/* token_bias in C++17: a logits processor that makes tokens more or less likely, by a list of theirs. */
#include <sstream>
#include <string>
#include <vector>

#include "graft/graft.hpp"

namespace {

std::string list(); /* the option: "5:1.5,17:-4" adds 1.5 to the score of token 5 and takes 4 from that of token 17 */

/* The state of a sequence: here what the option says, since it needs nothing of the sequence. */
class TokenBias {
  public:
    static constexpr const char *name = "token_bias_cpp";

    explicit TokenBias(const graft_logits_sequence &sequence) {
        std::istringstream items(list());
        for (std::string item; std::getline(items, item, ',');) {
            std::istringstream text(item);
            char colon = '\0';
            bias read{};
            if (!(text >> read.id >> colon >> read.amount) || colon != ':' || !text.eof()) {
                throw graft::failure("option list: expected ID:BIAS, got \"" + item + "\"", GRAFT_ERROR_USAGE);
            }
            if (read.id < 0 || read.id >= sequence.vocab_size) {
                throw graft::failure("option list: token " + std::to_string(read.id) +
                                         " is outside the vocabulary of " + std::to_string(sequence.vocab_size),
                                     GRAFT_ERROR_USAGE);
            }
            biases.push_back(read);
        }
    }

    void process(const graft_logits_args &args) const {
        for (const bias &each : biases) {
            args.scores[each.id] += each.amount;
        }
    }

  private:
    struct bias {
        std::int64_t id;
        float amount;
    };
    std::vector<bias> biases;
};

const graft_logits_processor processors[] = {
    graft::logits_processor<TokenBias>("Adds a number to the scores of tokens")};
constexpr graft_option options[] = {
    graft::option(GRAFT_OPTION_STRING, "list", "token ids with what is added to their scores: 5:1.5,17:-4", "")};
const graft_plugin descriptor = graft::plugin("token_bias_cpp", "1.0.0", "Apache-2.0",
                                              "Makes tokens more or less likely, in C++", processors, options);
const graft_host *host;

std::string list() {
    return graft::options(host, descriptor).string("list", "");
}

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *given, graft_error *) {
    host = given;
    return &descriptor;
}
