// SPDX-License-Identifier: Apache-2.0
//! token_bias in Rust: a logits processor that makes tokens more or less likely, by a list of theirs.

use graft::{Error, LogitsArgs, LogitsProcessor, Plugin, PluginOption, Result, Sequence};

/// The state of a sequence: here what the option says, since it needs nothing of the sequence.
#[derive(Clone)]
struct TokenBias(Vec<(usize, f32)>);

impl LogitsProcessor for TokenBias {
    const NAME: &'static str = "token_bias_rust";
    const DESCRIPTION: &'static str = "Adds a number to the scores of tokens";

    /// "5:1.5,17:-4" adds 1.5 to the score of token 5 and takes 4 from that of token 17.
    fn create(sequence: &Sequence) -> Result<TokenBias> {
        let list = graft::options().string("list").unwrap_or_default();
        let items = list.split(',').filter(|item| !item.is_empty());
        let biases = items.map(|item| match read(item) {
            None => Err(Error::usage(format!("option list: expected ID:BIAS, got \"{}\"", item))),
            Some((id, _)) if id >= sequence.vocab_size => Err(Error::usage(format!(
                "option list: token {} is outside the vocabulary of {}",
                id, sequence.vocab_size
            ))),
            Some(bias) => Ok(bias),
        });
        Ok(TokenBias(biases.collect::<Result<_>>()?))
    }

    fn process(&self, args: LogitsArgs) -> Result<()> {
        for (id, bias) in &self.0 {
            args.scores[*id] += bias;
        }
        Ok(())
    }
}

fn read(item: &str) -> Option<(usize, f32)> {
    let (id, bias) = item.split_once(':')?;
    Some((id.parse().ok()?, bias.parse().ok()?))
}

graft::plugin!(Plugin::new("token_bias_rust", "1.0.0", "Apache-2.0", "Makes tokens more or less likely, in Rust")
    .logits_processor(graft::logits_processor::<TokenBias>())
    .option(PluginOption::string("list", "token ids with what is added to their scores: 5:1.5,17:-4", "")));
