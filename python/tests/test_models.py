# SPDX-License-Identifier: Apache-2.0
"""Opening, generating, forwards, saving: against what transformers says."""

import gc
import os
import signal
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import graft
import numpy as np
from common import close_to, folder, golden, tensors

LLAMA = "plain/llama"


class Generating(unittest.TestCase):
    def setUp(self):
        self.golden = golden(LLAMA)
        self.ids = self.golden["input_ids"]
        self.model = graft.from_pretrained(folder(LLAMA))
        self.addCleanup(self.model.close)

    def generate(self, inputs, **more):
        return self.model.generate(inputs, max_new_tokens=24, do_sample=False, ignore_eos=True, **more)

    def test_ids_give_prompt_and_new_ids(self):
        result = self.generate(self.ids)
        self.assertEqual(result.tolist(), self.ids + self.golden["greedy_ids"])
        self.assertEqual(result.dtype, np.int32)

    def test_shapes_of_input(self):
        whole = self.ids + self.golden["greedy_ids"]
        for inputs in (np.asarray([self.ids] * 2), [self.ids, self.ids], {"input_ids": [self.ids, self.ids]}):
            self.assertEqual([each.tolist() for each in self.generate(inputs)], [whole, whole])

    def test_padding_of_a_tokenizer_is_left_out(self):
        batch = {"input_ids": [[0, 0, *self.ids]], "attention_mask": [[0, 0] + [1] * len(self.ids)]}
        self.assertEqual(self.generate(batch)[0].tolist(), self.ids + self.golden["greedy_ids"])

    def test_text_gives_new_text(self):
        new = self.model.tokenizer.decode(self.golden["greedy_ids"], skip_special_tokens=True)
        self.assertEqual(self.generate(self.golden["prompt"]), new)
        self.assertEqual(self.generate([self.golden["prompt"]]), [new])

    def test_streamers(self):
        class Streamer:
            values, ended = [], False

            def put(self, value):
                self.values.append(np.asarray(value).tolist())

            def end(self):
                self.ended = True

        streamer, pieces, ids = Streamer(), [], []
        self.generate(self.ids, streamer=streamer)
        self.assertEqual(streamer.values, [self.ids] + [[token] for token in self.golden["greedy_ids"]])
        self.assertTrue(streamer.ended)
        self.generate(self.ids, streamer=ids.append)
        self.assertEqual(ids, self.golden["greedy_ids"])
        text = self.generate(self.golden["prompt"], streamer=pieces.append)
        self.assertEqual("".join(pieces), text)

    def test_iterators(self):
        more = {"max_new_tokens": 24, "do_sample": False, "ignore_eos": True}
        self.assertEqual(list(self.model.stream(self.ids, **more)), self.golden["greedy_ids"])
        text = self.generate(self.golden["prompt"])
        self.assertEqual("".join(self.model.stream(self.golden["prompt"], **more)), text)

    def test_an_iterator_and_other_calls_take_turns(self):
        more = {"max_new_tokens": 24, "do_sample": False, "ignore_eos": True}
        stream = self.model.stream(self.ids, **more)
        seen = [next(stream) for _ in range(3)]
        self.assertEqual(self.generate(self.ids).tolist()[len(self.ids) :], self.golden["greedy_ids"])
        self.assertEqual(seen + list(stream), self.golden["greedy_ids"])

    def test_what_a_streamer_raises_comes_out(self):
        def stop(token):
            raise KeyError(token)

        with self.assertRaises(KeyError):
            self.generate(self.ids, streamer=stop)
        self.test_ids_give_prompt_and_new_ids()

    def test_several_sequences_of_a_prompt(self):
        results = self.model.generate(self.ids, max_new_tokens=4, num_beams=3, num_return_sequences=2)
        self.assertEqual(len(results), 2)

    def test_seeds(self):
        draws = [self.model.generate(self.ids, max_new_tokens=8, do_sample=True, seed=s).tolist() for s in (1, 1, 2)]
        self.assertEqual(draws[0], draws[1])
        self.assertNotEqual(draws[0], draws[2])


class Forwards(unittest.TestCase):
    def test_logits_and_hidden_states(self):
        expected = tensors(LLAMA)
        with graft.from_pretrained(folder(LLAMA)) as model:
            output = model(golden(LLAMA)["input_ids"], output_hidden_states=True)
        self.assertTrue(close_to(output.logits, expected["logits"][0]))
        names = ("embeddings", "layer.0", "final_norm")
        self.assertEqual(len(output.hidden_states), len(names))
        for found, name in zip(output.hidden_states, names):  # the recording outlives the model
            self.assertTrue(close_to(found, expected["hidden_states." + name][0]), name)

    def test_shapes(self):
        with graft.from_pretrained(folder(LLAMA)) as model:
            single = model([5, 6, 7]).logits
            even = model([[5, 6, 7], [5, 6, 7]]).logits
            ragged = model([[5, 6, 7], [5, 6]], output_hidden_states=True)
        self.assertEqual(single.shape, (3, 583))
        self.assertEqual(even.shape, (2, 3, 583))
        self.assertTrue((even[0] == single).all() and (even[1] == single).all())
        self.assertEqual([each.shape[0] for each in ragged.logits], [3, 2])
        self.assertEqual([each[0].shape[0] for each in ragged.hidden_states], [3, 2])

    def test_attentions_and_routers(self):
        expected = tensors("plain/qwen2_moe")
        with graft.from_pretrained(folder("plain/qwen2_moe")) as model:
            output = model(golden("plain/qwen2_moe")["input_ids"], output_attentions=True, output_router_logits=True)
        self.assertEqual(len(output.attentions), 2)
        self.assertTrue(np.allclose(output.attentions[0].sum(-1), 1, atol=1e-5))
        for i, logits in enumerate(output.router_logits):
            self.assertTrue(close_to(logits, expected[f"router.{i}.logits"]))

    def test_encoders(self):
        case = "encoders/bert_sentence"
        expected, said = tensors(case), golden(case)
        with graft.from_pretrained(folder(case)) as model:
            output = model(said["prompts"], token_type_ids=said["token_type_ids"])
            vectors = model.embed(said["texts"])
            one = model.embed(said["texts"][0])
            by_ids = model.embed(said["text_ids"])
        for i, hidden in enumerate(output.last_hidden_state):
            self.assertTrue(close_to(hidden, expected[f"last_hidden_state.{i}"]))
            self.assertTrue(close_to(output.pooler_output[i : i + 1], expected[f"pooler_output.{i}"]))
            self.assertTrue(close_to(vectors[i], expected[f"vector.{i}"]))
        self.assertTrue(close_to(one, vectors[0]))
        self.assertTrue((vectors == by_ids).all())

    def test_classifiers(self):
        case = "encoders/bert_classifier"
        expected, said = tensors(case), golden(case)
        with graft.from_pretrained(folder(case), dtype="float32") as model:
            logits = model(said["prompts"], token_type_ids=said["token_type_ids"]).logits
        for i, row in enumerate(logits):
            self.assertTrue(close_to(row[None], expected[f"logits.{i}"]))


class Looking(unittest.TestCase):
    def test_plan(self):
        with graft.from_pretrained(folder(LLAMA), plugins=["fused_qkv"], load=False) as model:
            plan = model.plan
            modules = {each.path: each for each in model.named_modules()}
        self.assertEqual(plan["architecture"], "LlamaForCausalLM")
        self.assertEqual(plan["missing"], [])
        attention = modules["model.layers.0.self_attn"]
        self.assertEqual((attention.class_name, attention.plugin), ("LlamaFusedAttention", "fused_qkv"))
        self.assertEqual(attention.original_class, "LlamaAttention")
        self.assertIn("LlamaFusedAttention", plan.page)

    def test_verify(self):
        with graft.from_pretrained(folder("plain/qwen2_moe"), plugins=["fused_qkv", "sequential_experts"]) as model:
            found = model.verify()
        self.assertTrue(found and found.same_ids)
        self.assertEqual({each.class_name for each in found.modules}, {"FusedQKVAttention", "ModuleListExperts"})
        self.assertEqual([each.difference for each in found.modules], [0.0] * len(found.modules))

    def test_fusing(self):
        chain = [graft.ModuleSpec("model.layers.*.post_attention_layernorm"), "model.layers.*.mlp"]
        ids = golden(LLAMA)["input_ids"]
        with graft.from_pretrained(folder(LLAMA)) as model:
            before = model(ids).logits
            graft.fuse_modules(model, chain)
            self.assertEqual(model.fused_by("model.layers.1.mlp"), "")
            self.assertTrue((model(ids).logits == before).all())
            graft.unfuse_modules(model)
            self.assertIsNone(model.fused_by("model.layers.1.mlp"))

    def test_saving_gives_the_same_tensors(self):
        case = "plain/qwen2_moe"
        with tempfile.TemporaryDirectory() as scratch:
            with graft.from_pretrained(folder(case), plugins=["sequential_experts"]) as model:
                for name, original in (("original", True), ("runtime", False)):
                    model.save_pretrained(os.path.join(scratch, name), save_original_format=original)
            saved = tensors(os.path.join(scratch, "original"), "model.safetensors")
            first = tensors(case, "model.safetensors")
            self.assertEqual(saved.keys(), first.keys())
            for name, tensor in first.items():
                self.assertTrue((saved[name] == tensor).all(), name)
            with graft.from_pretrained(os.path.join(scratch, "runtime"), plugins=["sequential_experts"]) as model:
                ids = golden(case)["input_ids"]
                self.assertTrue(close_to(model(ids).logits, tensors(case)["logits"][0]))

    def test_options(self):
        with graft.from_pretrained(folder(LLAMA), attn_implementation="eager", dtype="float32", threads=1) as model:
            self.assertEqual(model.plan["attention_implementation"]["name"], "eager")
        patch = {"classes": {"LlamaMLP": {"class": "LlamaMLP", "module_path": "layers"}}}
        with graft.from_pretrained(folder(LLAMA), patch=patch):
            pass
        with graft.from_pretrained(folder(LLAMA), weights=False, load=False) as model:
            self.assertEqual(model.vocab_size, 583)


class Bars(unittest.TestCase):
    """Progress bars, by something that has the methods of tqdm."""

    def setUp(self):
        self.bars = bars = []

        class Bar:
            def __init__(self, total, desc, **_):
                self.total, self.desc, self.n, self.closed = total, desc, 0, False
                bars.append(self)

            def update(self, n):
                self.n += n

            def close(self):
                self.closed = True

        self.Bar = Bar
        auto = types.ModuleType("tqdm.auto")
        auto.tqdm = Bar
        for change in (
            mock.patch.dict(sys.modules, {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": auto}),
            mock.patch.object(graft.progress, "PATIENCE", -1),
            mock.patch.object(graft.progress, "_has_tqdm", True),
            mock.patch.object(graft.model, "_LONG", 32),
        ):
            change.start()
            self.addCleanup(change.stop)

    def test_load_prompt_and_save(self):
        with tempfile.TemporaryDirectory() as scratch:
            with graft.from_pretrained(folder("plain/qwen2_moe"), plugins=["sequential_experts"]) as model:
                model.generate([5] * 33, max_new_tokens=1)
                model.generate([5] * 32, max_new_tokens=1)
                list(model.stream([5] * 40, max_new_tokens=3))
                model.save_pretrained(os.path.join(scratch, "saved"))
        told = [bar.desc for bar in self.bars]
        self.assertEqual(told[-3:], ["Reading the prompt", "Reading the prompt", "Saving"])
        self.assertTrue(all(bar.closed and bar.n == bar.total for bar in self.bars))
        self.assertEqual([bar.total for bar in self.bars[-3:-1]], [33, 40])

    def test_switched_off(self):
        graft.disable_progress_bar()
        self.addCleanup(graft.enable_progress_bar)
        with graft.from_pretrained(folder(LLAMA)) as model:
            model.generate([5] * 40, max_new_tokens=1)
        self.assertEqual(self.bars, [])

    def test_an_interrupt_stops(self):
        def interrupted(bar, n):
            raise KeyboardInterrupt

        tokens = []
        with graft.from_pretrained(folder(LLAMA)) as model, tempfile.TemporaryDirectory() as scratch:
            self.Bar.update = interrupted
            with self.assertRaises(KeyboardInterrupt):
                model.generate([5] * 40, max_new_tokens=50, ignore_eos=True, streamer=tokens.append)
            self.assertLess(len(tokens), 50)
            with self.assertRaises(KeyboardInterrupt):
                list(model.stream([5] * 40, max_new_tokens=50))
            with self.assertRaises(KeyboardInterrupt):
                model.save_pretrained(os.path.join(scratch, "saved"))
            self.assertEqual(os.listdir(scratch), [])
            graft.disable_progress_bar()
            self.addCleanup(graft.enable_progress_bar)
            self.assertEqual(len(model.generate([5] * 40, max_new_tokens=2, ignore_eos=True)), 42)


class Errors(unittest.TestCase):
    def test_they_say_what_the_library_says(self):
        with self.assertRaises(graft.ModelError) as caught:
            graft.from_pretrained(folder("plain"))
        self.assertEqual(caught.exception.code, 4)
        self.assertIn("config.json", caught.exception.source)
        self.assertIn(caught.exception.message, str(caught.exception))
        with self.assertRaises(graft.PluginError) as caught:
            graft.from_pretrained(folder(LLAMA), plugins=["fused_qvk"])
        self.assertIn("fused_qkv", caught.exception.hint + caught.exception.message)

    def test_arguments(self):
        with graft.from_pretrained(folder(LLAMA)) as model:
            for inputs in ([10**6], [], [0.5], [10**12], [[[1]]]):
                with self.assertRaises(ValueError, msg=str(inputs)):
                    model.generate(inputs, max_new_tokens=1)
            with self.assertRaises(graft.UsageError) as caught:
                model.generate([1], max_new_tokens=1, temperatur=1.0)
            self.assertIn("temperature", caught.exception.hint)
            with self.assertRaises(graft.UsageError):
                model.generate([1], max_new_tokens=1, do_sample=True, temperature=-1.0)
            for call in (lambda: model([1]), model.close):
                with self.assertRaisesRegex(graft.UsageError, "in use by the call that called this"):
                    model.generate([1, 2], max_new_tokens=1, streamer=lambda token: call())
        for call in (lambda: model.generate([1]), lambda: model.notes, lambda: model.plan, model.verify):
            with self.assertRaisesRegex(graft.UsageError, "the model is closed"):
                call()
        with self.assertRaises(graft.UsageError):
            graft.from_pretrained(folder(LLAMA), dtype="float8")

    def test_nothing_is_cut_off_or_taken_for_something_else(self):
        def options(**more):
            return lambda model: graft.from_pretrained(folder(LLAMA), **more)

        def generate(inputs=(1,), **more):
            return lambda model: model.generate(inputs, max_new_tokens=1, **more)

        cases = (
            (generate(b"text"), "got bytes"),
            (generate({1, 2}), "got set"),
            (generate(7), "got int"),
            (generate({"ids": [1]}), "expected input_ids, got ids"),
            (generate({"input_ids": [[1, 2]], "attention_mask": [[1]]}), "attention_mask"),
            (generate([[1], "text"]), "texts and others"),
            (generate(seed=-1), "seed: expected 0 to"),
            (generate(seed=2**64), "seed: expected 0 to"),
            (generate(speculate=0.5), "speculate: expected an integer"),
            (generate(logits_processors="none_such"), '"none_such"'),
            (lambda model: model([1], token_type_ids=[0]), "token_type_ids"),
            (lambda model: model.save_pretrained("nowhere", max_shard_size="-5GB"), "max_shard_size"),
            (lambda model: model.save_pretrained("nowhere", max_shard_size=0), "max_shard_size"),
            (lambda model: model.tokenizer.convert_ids_to_tokens(2**32 + 5), "token: expected"),
            (lambda model: model.tokenizer.decode([1.7]), "expected integers"),
            (lambda model: model.tokenizer.encode(None), "text: expected a string, got NoneType"),
            (lambda model: model.fuse_modules([None, None]), "path of a ModuleSpec"),
            (options(threads=0), "threads: expected 1 to"),
            (options(threads="4"), "threads: expected an integer"),
            (options(kernels="none_such"), '"none_such"'),
            (options(attn_implementation=3), "attn_implementation: expected a string, got int"),
            (options(fusion_config={"patch_embeddings": self}), "fusion_config: "),
            (options(patch={"unknown": 1}), "^patch: unknown: unknown field"),
            (options(adapters=["one/name", "other/name"]), "two of the directories have one name"),
            (lambda model: graft.register_checkpoint_conversion_mapping("llama", [3]), "got 3"),
        )
        with graft.from_pretrained(folder(LLAMA)) as model:
            for call, words in cases:
                with self.assertRaisesRegex((ValueError, TypeError, graft.ModelError), words):
                    call(model)
            self.assertTrue(model.notes is not None)


class Lives(unittest.TestCase):
    def test_garbage_in_any_order(self):
        model = graft.from_pretrained(folder(LLAMA))
        loop = [model, model.stream([1, 2, 3], max_new_tokens=9), model.stream("one", max_new_tokens=9)]
        loop += [next(loop[1]), next(loop[2]), model.tokenizer.stream(), loop]
        del model, loop
        gc.collect()

    def test_streams_of_a_closed_model(self):
        model = graft.from_pretrained(folder(LLAMA))
        streams = [model.stream([1, 2], max_new_tokens=9, ignore_eos=True), model.stream([1], max_new_tokens=9)]
        next(streams[0])
        model.close()
        for stream in streams:
            with self.assertRaisesRegex(graft.UsageError, "the model is closed"):
                next(stream)

    def test_recorded_arrays_keep_their_memory(self):
        with graft.from_pretrained(folder(LLAMA)) as model:
            states = model([1, 2, 3], output_hidden_states=True).hidden_states
        expected = states[0].copy()
        part = np.asarray(states[0])[1:]
        del states
        gc.collect()
        self.assertTrue((part == expected[1:]).all())

    def test_interrupts(self):
        """Ctrl-C comes out of generate wherever it meets it, and the model goes on afterwards."""
        ids = golden(LLAMA)["input_ids"]
        with graft.from_pretrained(folder(LLAMA)) as model:
            for pause in (0.001 * i for i in range(1, 30)):
                timer = threading.Timer(pause, os.kill, (os.getpid(), signal.SIGINT))
                with self.assertRaises(KeyboardInterrupt):
                    timer.start()
                    for _ in range(100000):
                        model.generate(ids, max_new_tokens=64, ignore_eos=True, streamer=lambda token: None)
                timer.join()
            made = model.generate(ids, max_new_tokens=24, do_sample=False, ignore_eos=True)
        self.assertEqual(made.tolist()[len(ids) :], golden(LLAMA)["greedy_ids"])
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_a_fork_generates(self):
        ids = golden(LLAMA)["input_ids"]
        with graft.from_pretrained(folder(LLAMA)) as model:
            expected = model.generate(ids, max_new_tokens=4, do_sample=False).tolist()
            child = os.fork()
            if child == 0:
                made = model.generate(ids, max_new_tokens=4, do_sample=False).tolist()
                os._exit(0 if made == expected else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_threads_generate_at_once(self):
        ids, expected = golden(LLAMA)["input_ids"], golden(LLAMA)["greedy_ids"]
        results = {}

        def work(number, model):
            made = [model.generate(ids, max_new_tokens=24, do_sample=False, ignore_eos=True) for _ in range(20)]
            results[number] = all(each.tolist()[len(ids) :] == expected for each in made)

        with graft.from_pretrained(folder(LLAMA)) as one, graft.from_pretrained(folder(LLAMA)) as two:
            threads = [threading.Thread(target=work, args=item) for item in enumerate((one, two, two))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(results, {0: True, 1: True, 2: True})

    def test_opening_and_closing_leaves_nothing(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def rounds(n):
            for i in range(n):
                with graft.from_pretrained(folder(LLAMA), plugins=["fused_qkv"]) as model:
                    if i % 10 == 0:
                        model.generate([1, 2, 3], max_new_tokens=2)
            gc.collect()
            return resident()

        before = rounds(100)
        self.assertLess(rounds(300) - before, 2 << 20)


if __name__ == "__main__":
    unittest.main()
