/* SPDX-License-Identifier: Apache-2.0 */
/* Runs modules on their own: a model run module by module gives the same as a whole, and misuse is reported. */
#include <math.h>

#include "library_fixture.h"

#include "graft/batch.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/norm.h"
#include "graft/rotary.h"

/* Sizes of the golden llama. */
enum { TOKENS = 5, HIDDEN = 64, HEAD = 16, INNER = 112, VOCABULARY = 583, LAYERS = 2 };

static const int32_t ids[TOKENS] = {5, 7, 11, 300, 2};
static const int64_t positions[TOKENS] = {0, 1, 2, 3, 4}, cu_seqlens[] = {0, TOKENS};
static const int32_t slots[] = {0};
static const struct graft_batch batch = {.struct_size = sizeof batch,
                                         .sequences = 1,
                                         .tokens = TOKENS,
                                         .cu_seqlens = cu_seqlens,
                                         .positions = positions,
                                         .slots = slots};

static struct graft_library *library;
static struct graft_model *model;
static struct graft_error error;
static float hidden[TOKENS * HIDDEN], normed[TOKENS * HIDDEN], cosines[TOKENS * HEAD], sines[TOKENS * HEAD];
static float logits[TOKENS * VOCABULARY], whole[TOKENS * VOCABULARY];

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static void refuse(const char *path, const void *args, const char *words) {
    error = graft_error_none();
    assert_int_equal(graft_model_run_module(model, path, args, &error), GRAFT_ERROR_USAGE);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

static int set_up(void **state) {
    char path[512];
    (void)state;
    error = graft_error_none();
    library = new_library();
    check(graft_model_open(library, llama_directory(path), NULL, &model, &error));
    check(graft_model_load(model, &error));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_model_free(model);
    graft_library_free(library);
    return 0;
}

/* Runs layer 0 on the tokens [begin, end) of a sequence in a cache. */
static int run_cached(struct graft_cache *cache, int32_t slot, int64_t begin, int64_t end, float *states) {
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    const int64_t lengths[] = {0, end - begin};
    const struct graft_batch part = {.struct_size = sizeof part,
                                     .sequences = 1,
                                     .tokens = end - begin,
                                     .cu_seqlens = lengths,
                                     .positions = positions + begin,
                                     .slots = &slot,
                                     .cache = cache};
    const struct graft_decoder_layer_args layer = {.struct_size = sizeof layer,
                                                   .batch = &part,
                                                   .hidden_states = states + begin * HIDDEN,
                                                   .cos = cosines + begin * HEAD,
                                                   .sin = sines + begin * HEAD,
                                                   .mask = &mask};
    error = graft_error_none();
    return graft_model_run_module(model, "model.layers.0", &layer, &error);
}

static void embed(void) {
    const struct graft_embedding_args args = {
        .struct_size = sizeof args, .tokens = TOKENS, .ids = ids, .output = hidden};
    check(graft_model_run_module(model, "model.embed_tokens", &args, &error));
}

static void run_by_one(void) {
    const struct graft_rotary_args rotary = {
        .struct_size = sizeof rotary, .batch = &batch, .head_dim = HEAD, .cos = cosines, .sin = sines};
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    const struct graft_decoder_layer_args layer = {.struct_size = sizeof layer,
                                                   .batch = &batch,
                                                   .hidden_states = hidden,
                                                   .cos = cosines,
                                                   .sin = sines,
                                                   .mask = &mask};
    const struct graft_norm_args norm = {
        .struct_size = sizeof norm, .tokens = TOKENS, .hidden_states = hidden, .output = normed};
    const struct graft_linear_args head = {.struct_size = sizeof head, .tokens = TOKENS, .x = normed, .y = logits};
    embed();
    check(graft_model_run_module(model, "model.rotary_emb", &rotary, &error));
    for (int i = 0; i < LAYERS; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "model.layers.%d", i);
        check(graft_model_run_module(model, path, &layer, &error));
    }
    check(graft_model_run_module(model, "model.norm", &norm, &error));
    check(graft_model_run_module(model, "lm_head", &head, &error));
}

static void test_all(void **state) {
    const struct graft_prompt prompt = {.struct_size = sizeof prompt, .ids = ids, .count = TOKENS};
    (void)state;
    run_by_one();
    check(graft_model_logits(model, &prompt, 1, whole, &error));
    assert_memory_equal(logits, whole, sizeof whole);
}

/* The cache keeps earlier tokens: token by token, from a copy, and again from an earlier length. */
static void test_cached(void **state) {
    static float before[TOKENS * HIDDEN], states[TOKENS * HIDDEN], wanted[TOKENS * HIDDEN];
    const struct graft_rotary_args rotary = {
        .struct_size = sizeof rotary, .batch = &batch, .head_dim = HEAD, .cos = cosines, .sin = sines};
    struct graft_cache *cache = NULL, *other = NULL;
    (void)state;
    embed();
    check(graft_model_run_module(model, "model.rotary_emb", &rotary, &error));
    memcpy(before, hidden, sizeof before);
    memcpy(wanted, hidden, sizeof wanted);
    memcpy(states, hidden, sizeof states);
    check(run_cached(NULL, 0, 0, TOKENS, wanted));
    check(graft_model_create_cache(model, 3, &cache, &error));
    check(graft_model_create_cache(model, 1, &other, &error));
    for (int64_t t = 0; t < TOKENS; t++) {
        check(run_cached(cache, 2, t, t + 1, states));
    }
    assert_memory_equal(states, wanted, sizeof wanted);
    memcpy(states, before, sizeof states);
    check(graft_cache_copy(cache, 2, other, 0, 3, &error));
    check(graft_cache_copy(cache, 2, cache, 0, TOKENS, &error));
    check(graft_cache_truncate(cache, 2, 1, &error));
    check(graft_cache_truncate(cache, 0, 4, &error));
    check(run_cached(other, 0, 3, TOKENS, states));
    assert_memory_equal(states + 3 * HIDDEN, wanted + 3 * HIDDEN, 2 * HIDDEN * sizeof *states);
    memcpy(states, before, sizeof states);
    check(run_cached(cache, 2, 1, 4, states));
    check(run_cached(cache, 0, 4, TOKENS, states));
    assert_memory_equal(states + HIDDEN, wanted + HIDDEN, (TOKENS - 1) * HIDDEN * sizeof *states);
    /* An empty sequence replaces a used one, which then begins again. */
    check(graft_cache_copy(cache, 1, cache, 0, TOKENS, &error));
    memcpy(states, before, sizeof states);
    check(run_cached(cache, 0, 0, TOKENS, states));
    assert_memory_equal(states, wanted, sizeof wanted);
    graft_cache_free(cache);
    graft_cache_free(other);
    graft_cache_free(NULL);
}

static void test_cache_misuse(void **state) {
    static const int32_t same[] = {1, 1}, beyond[] = {0, 3};
    static const int64_t halves[] = {0, 2, TOKENS}, wrong[TOKENS] = {0, 1, 0, 2, 3};
    struct graft_cache *cache = NULL;
    struct graft_batch bad = batch;
    const struct graft_rotary_args rotary = {
        .struct_size = sizeof rotary, .batch = &bad, .head_dim = HEAD, .cos = cosines, .sin = sines};
    (void)state;
    assert_int_equal(graft_model_create_cache(model, 0, &cache, &error), GRAFT_ERROR_USAGE);
    check(graft_model_create_cache(model, 3, &cache, &error));
    assert_int_equal(graft_cache_truncate(cache, 3, 0, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_cache_truncate(cache, 0, -1, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_cache_copy(cache, 0, cache, -1, 0, NULL), GRAFT_ERROR_USAGE);
    assert_int_equal(run_cached(cache, 0, 1, TOKENS, hidden), GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "holds 0 tokens, but the batch continues at position 1"));
    bad.cache = cache;
    bad.sequences = 2;
    bad.cu_seqlens = halves;
    bad.slots = same;
    refuse("model.rotary_emb", &rotary, "batch.slots: expected another one");
    bad.slots = beyond;
    refuse("model.rotary_emb", &rotary, "batch.slots: expected numbers below");
    bad.slots = same + 1;
    bad.sequences = 1;
    bad.cu_seqlens = cu_seqlens;
    bad.positions = wrong;
    refuse("model.rotary_emb", &rotary, "batch.positions");
    graft_cache_free(cache);
}

/* Runs an MLP by its parts, which are modules as well. */
static void test_parts(void **state) {
    static float gate[TOKENS * INNER], up[TOKENS * INNER], output[TOKENS * HIDDEN], wanted[TOKENS * HIDDEN];
    struct graft_linear_args args = {.struct_size = sizeof args, .tokens = TOKENS, .x = hidden, .y = gate};
    const struct graft_mlp_args mlp = {
        .struct_size = sizeof mlp, .tokens = TOKENS, .hidden_states = hidden, .output = wanted};
    (void)state;
    embed();
    check(graft_model_run_module(model, "model.layers.1.mlp.gate_proj", &args, &error));
    args.y = up;
    check(graft_model_run_module(model, "model.layers.1.mlp.up_proj", &args, &error));
    for (int i = 0; i < TOKENS * INNER; i++) {
        gate[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
    }
    args.x = gate;
    args.y = output;
    check(graft_model_run_module(model, "model.layers.1.mlp.down_proj", &args, &error));
    check(graft_model_run_module(model, "model.layers.1.mlp", &mlp, &error));
    for (int i = 0; i < TOKENS * HIDDEN; i++) {
        assert_true(fabsf(output[i] - wanted[i]) <= 1e-6f);
    }
}

/* --- A class that replaces a module --- */

static int n_calls, fails;

static int counted(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *why) {
    n_calls++;
    assert_non_null(call->scratch_alloc(call->scratch, 1 << 20));
    return fails ? graft_error_set(why, GRAFT_ERROR_PLUGIN, "", "told to fail")
                 : forward_to_super(self, call, args, why);
}

static const struct graft_mlp counted_vtable = {.struct_size = sizeof counted_vtable, .forward = counted};
static const struct graft_class counted_mlp = SUPER_CLASS("CountedMLP", GRAFT_INTERFACE_MLP, &counted_vtable);

static void test_replaced(void **state) {
    const struct graft_mlp_args args = {
        .struct_size = sizeof args, .tokens = TOKENS, .hidden_states = hidden, .output = normed};
    struct graft_model *other = NULL;
    char path[512];
    (void)state;
    embed();
    put(library, "LlamaMLP", &counted_mlp);
    check(graft_model_open(library, llama_directory(path), NULL, &other, &error));
    check(graft_model_load(other, &error));
    n_calls = 0;
    check(graft_model_run_module(other, "model.layers.0.mlp", &args, &error));
    assert_int_equal(n_calls, 1);
    fails = 1;
    assert_int_equal(graft_model_run_module(other, "model.layers.0.mlp", &args, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "told to fail");
    assert_string_equal(error.source, "model.layers.0.mlp");
    fails = 0;
    graft_model_free(other);
}

/* --- Misuse --- */

static void test_misuse(void **state) {
    static const int32_t beyond[TOKENS] = {0, 1, VOCABULARY, 2, 3}, negative[TOKENS] = {0, -1};
    static const int64_t gap[] = {0, 2, 2, TOKENS}, late[] = {1, TOKENS};
    struct graft_linear_args linear = {.struct_size = sizeof linear, .tokens = TOKENS, .x = normed, .y = logits};
    struct graft_embedding_args table = {
        .struct_size = sizeof table, .tokens = TOKENS, .ids = beyond, .output = hidden};
    struct graft_batch bad = batch;
    struct graft_rotary_args rotary = {.struct_size = sizeof rotary, .head_dim = HEAD, .cos = cosines, .sin = sines};
    const struct graft_module_spec chain[] = {
        {.struct_size = sizeof chain[0], .path = "model.layers.0.post_attention_layernorm"},
        {.struct_size = sizeof chain[0], .path = "model.layers.0.mlp"}};
    const struct graft_mlp_args mlp = {
        .struct_size = sizeof mlp, .tokens = TOKENS, .hidden_states = hidden, .output = normed};
    (void)state;
    refuse("model.nowhere", &linear, "there is no module \"model.nowhere\"");
    refuse(NULL, &linear, "there is no module");
    refuse("model.layers", &linear, "it is a list of modules");
    refuse("lm_head", NULL, "struct_size");
    linear.struct_size = 16;
    refuse("lm_head", &linear, "struct_size");
    linear.struct_size = sizeof linear;
    linear.y = NULL;
    refuse("lm_head", &linear, "args of graft.linear/1: y: expected an array");
    refuse("model.embed_tokens", &table, "ids: 583 is not below 583");
    table.ids = negative;
    refuse("model.embed_tokens", &table, "ids: -1 is not below 583");
    refuse("model.rotary_emb", &rotary, "batch: expected one");
    rotary.batch = &bad;
    bad.cu_seqlens = late;
    refuse("model.rotary_emb", &rotary, "batch.cu_seqlens");
    bad.cu_seqlens = gap;
    bad.sequences = 3;
    refuse("model.rotary_emb", &rotary, "batch.cu_seqlens");
    bad = batch;
    bad.positions = NULL;
    refuse("model.rotary_emb", &rotary, "batch: expected a struct graft_batch");
    error = graft_error_none();
    check(graft_model_fuse_modules(model, chain, 2, &error));
    refuse("model.layers.0.mlp", &mlp, "it is in a chain");
    struct graft_model *unloaded = model;
    char path[512];
    error = graft_error_none();
    check(graft_model_open(library, llama_directory(path), NULL, &model, &error));
    refuse("lm_head", &linear, "is not loaded");
    graft_model_free(model);
    model = unloaded;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cached, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cache_misuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_misuse, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
