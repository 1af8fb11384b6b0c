/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for numbers within bounds, such as those of minimum, maximum and multipleOf. Each state of the rules stands for
 * what is known of the digits so far: how they compare with those of each bound, their remainder when divided by the
 * divisor, and how many there are before or after the point.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "grammar/json_rules.h"

enum { MOST_DIGITS = 400, MOST_DIVISOR = 10000, MOST_STATES = 200000 };

/* The digits of a number before and after its point. */
struct decimal {
    char whole[MOST_DIGITS + 1]; /* without leading zeros, except "0" itself */
    char fraction[MOST_DIGITS + 1];
    int n_whole, n_fraction;
    int is_negative;
};

/* Reads the digits of a number such as "12.5e-3", with the exponent applied. */
static int read_decimal(const graft_json *number, struct decimal *decimal, const char **fault) {
    char all[2 * MOST_DIGITS + 2];
    int n = 0, point = -1;
    char *text = graft_json_dump(number, 0);
    if (text == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    memset(decimal, 0, sizeof *decimal);
    decimal->is_negative = text[0] == '-';
    const char *at = text + decimal->is_negative;
    for (; *at != '\0' && *at != 'e' && *at != 'E' && n < MOST_DIGITS; at++) {
        if (*at == '.') {
            point = n;
        } else {
            all[n++] = *at;
        }
    }
    point = point < 0 ? n : point;
    point += *at != '\0' ? atoi(at + 1) : 0;
    graft_free(text);
    if (point > MOST_DIGITS || n - point > MOST_DIGITS) {
        *fault = "it has too many digits";
        return GRAFT_ERROR_USAGE;
    }
    for (int i = point < 0 ? point : 0; i < (n > point ? n : point); i++) {
        const char digit = (char)(i >= 0 && i < n ? all[i] : '0');
        if (i >= point) {
            decimal->fraction[decimal->n_fraction++] = digit;
        } else if (decimal->n_whole > 0 || digit != '0') {
            decimal->whole[decimal->n_whole++] = digit;
        }
    }
    if (decimal->n_whole == 0) {
        decimal->whole[decimal->n_whole++] = '0';
    }
    while (decimal->n_fraction > 0 && decimal->fraction[decimal->n_fraction - 1] == '0') {
        decimal->n_fraction--;
    }
    return GRAFT_OK;
}

static int is_zero(const struct decimal *decimal) {
    return decimal->n_fraction == 0 && decimal->n_whole == 1 && decimal->whole[0] == '0';
}

/* What the absolute value of a number must satisfy. */
struct limits {
    const struct decimal *bounds[2]; /* lower and upper bound; NULL: none */
    int excludes[2];                 /* 1: the bound itself does not fit */
    int64_t divisor;                 /* times 10^places, so that it is an integer; 0: none */
    int places;                      /* digits of the divisor after its point */
    int is_integer;
};

struct state {
    int after_point;
    int n;        /* digits so far on this side of the point; counted only as far as it makes a difference */
    int order[2]; /* how the digits so far compare with as many of each bound: -1, 0, 1 */
    int64_t rest; /* remainder of the digits so far, divided by the divisor */
};

struct number_rules {
    const struct limits *limits;
    struct graft_rules *rules;
    int32_t to;
    int most_whole, most_fraction; /* where state.n stops counting, before and after the point */
    struct state *states;          /* [n] */
    int32_t *places;               /* [n] the rules' state of each */
    size_t n, capacity, places_capacity;
    int32_t *slots; /* [SLOTS] hash table: index in `states` + 1; 0: free */
    int status;
};

enum { SLOTS = 1 << 19 };

/* The rules' state that stands for `state`; it is made when it is first asked for. */
static int32_t place_of(struct number_rules *numbers, struct state state) {
    uint32_t hash = (uint32_t)state.n * 31u + (uint32_t)state.after_point;
    hash = (hash * 9u + (uint32_t)(state.order[0] + 1) * 3u + (uint32_t)(state.order[1] + 1)) * 0x9E3779B1u;
    hash = (hash ^ (uint32_t)state.rest) * 0x85EBCA77u;
    size_t at = (hash ^ hash >> 13) & (SLOTS - 1);
    for (; numbers->slots[at] != 0; at = (at + 1) & (SLOTS - 1)) {
        const struct state *found = &numbers->states[numbers->slots[at] - 1];
        if (found->after_point == state.after_point && found->n == state.n && found->rest == state.rest &&
            found->order[0] == state.order[0] && found->order[1] == state.order[1]) {
            return numbers->places[numbers->slots[at] - 1];
        }
    }
    if (numbers->n == MOST_STATES) {
        numbers->status = GRAFT_ERROR_USAGE;
        return 0;
    }
    if (graft_grow(&numbers->states, &numbers->capacity, numbers->n, sizeof *numbers->states) != 0 ||
        graft_grow(&numbers->places, &numbers->places_capacity, numbers->n, sizeof *numbers->places) != 0) {
        numbers->status = GRAFT_ERROR_INTERNAL;
        return 0;
    }
    numbers->states[numbers->n] = state;
    numbers->places[numbers->n] = graft_rules_state(numbers->rules);
    numbers->slots[at] = (int32_t)numbers->n + 1;
    return numbers->places[numbers->n++];
}

static int sign(int difference) {
    return (difference > 0) - (difference < 0);
}

static struct state next_digit(const struct number_rules *numbers, struct state state, int digit) {
    const struct limits *limits = numbers->limits;
    for (int i = 0; i < 2; i++) {
        const struct decimal *bound = limits->bounds[i];
        const int n = bound == NULL ? 0 : state.after_point ? bound->n_fraction : bound->n_whole;
        const char *digits = bound == NULL ? NULL : state.after_point ? bound->fraction : bound->whole;
        if (bound == NULL) {
            continue;
        }
        if (!state.after_point && state.n >= n) {
            state.order[i] = 1; /* more digits before the point than the bound has */
        } else if (state.order[i] == 0) {
            state.order[i] = sign(digit - (state.n < n ? digits[state.n] - '0' : 0));
        }
    }
    if (limits->divisor > 0 && !(state.after_point && state.n >= limits->places)) {
        state.rest = (state.rest * 10 + digit) % limits->divisor;
    }
    const int most = state.after_point ? numbers->most_fraction : numbers->most_whole;
    state.n = state.n < most ? state.n + 1 : most;
    return state;
}

/* Moves on to the digits after the point. A number with fewer digits before it than a bound is below that bound. */
static struct state pass_point(const struct number_rules *numbers, struct state state) {
    for (int i = 0; i < 2; i++) {
        const struct decimal *bound = numbers->limits->bounds[i];
        if (bound != NULL && state.n < bound->n_whole) {
            state.order[i] = -1;
        }
    }
    state.after_point = 1;
    state.n = 0;
    return state;
}

static int fits(const struct number_rules *numbers, struct state state) {
    const struct limits *limits = numbers->limits;
    int fits = 1;
    state = state.after_point ? state : pass_point(numbers, state);
    for (int i = 0; i < 2; i++) {
        const struct decimal *bound = limits->bounds[i];
        if (bound != NULL) {
            const int order = state.order[i] != 0 ? state.order[i] : state.n < bound->n_fraction ? -1 : 0;
            fits = fits && (i == 0 ? order >= limits->excludes[i] : order <= -limits->excludes[i]);
        }
    }
    for (int i = state.n; i < limits->places && limits->divisor > 0; i++) {
        state.rest = state.rest * 10 % limits->divisor;
    }
    return fits && state.rest == 0;
}

/* Adds edges for one more digit, `first` to 9. After the last decimal place of multipleOf only zeros may follow. */
static void add_digits(struct number_rules *numbers, int32_t from, struct state state, int first) {
    const struct limits *limits = numbers->limits;
    const int only_zeros = limits->divisor > 0 && state.after_point && state.n >= limits->places;
    for (int digit = first; digit <= (only_zeros ? 0 : 9); digit++) {
        const unsigned char byte = (unsigned char)('0' + digit);
        graft_rules_range(numbers->rules, from, place_of(numbers, next_digit(numbers, state, digit)), byte, byte);
    }
}

/* Lets the number end here if it fits and, in front of the point, go on with a point. */
static void add_end(struct number_rules *numbers, int32_t here, struct state state) {
    if (!state.after_point && !numbers->limits->is_integer) {
        const int32_t point = graft_rules_state(numbers->rules);
        graft_rules_range(numbers->rules, here, point, '.', '.');
        add_digits(numbers, point, pass_point(numbers, state), 0);
    }
    if (fits(numbers, state)) {
        graft_rules_empty(numbers->rules, here, numbers->to);
    }
}

static void add_state(struct number_rules *numbers, size_t number) {
    const struct state state = numbers->states[number];
    const int32_t here = numbers->places[number];
    add_digits(numbers, here, state, 0);
    add_end(numbers, here, state);
}

/* Adds "0" in front of the point. No digit may follow it there, so its state is not one of those that place_of makes.
 */
static void add_zero(struct number_rules *numbers, int32_t from) {
    const int32_t here = graft_rules_state(numbers->rules);
    graft_rules_range(numbers->rules, from, here, '0', '0');
    add_end(numbers, here, next_digit(numbers, (struct state){0}, 0));
}

static int longest(const struct limits *limits, int is_fraction) {
    int n = is_fraction ? limits->places : 1;
    for (int i = 0; i < 2; i++) {
        const struct decimal *bound = limits->bounds[i];
        const int digits = bound == NULL ? 0 : is_fraction ? bound->n_fraction : bound->n_whole;
        n = digits > n ? digits : n;
    }
    return n + 1;
}

/* Adds the numbers within these limits, without a sign. */
static int add_sizes(struct graft_rules *rules, int32_t from, int32_t to, const struct limits *limits,
                     const char **fault) {
    struct number_rules numbers = {.limits = limits, .rules = rules, .to = to};
    numbers.most_whole = longest(limits, 0);
    numbers.most_fraction = longest(limits, 1);
    numbers.slots = graft_alloc(SLOTS, sizeof *numbers.slots);
    numbers.status = numbers.slots != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    if (numbers.status == GRAFT_OK) {
        add_zero(&numbers, from);
        add_digits(&numbers, from, (struct state){0}, 1);
    }
    for (size_t i = 0; i < numbers.n && numbers.status == GRAFT_OK && rules->failed == 0; i++) {
        add_state(&numbers, i);
    }
    *fault = numbers.status == GRAFT_ERROR_USAGE ? "it needs too many states" : NULL;
    graft_free(numbers.slots);
    graft_free(numbers.states);
    graft_free(numbers.places);
    return numbers.status;
}

static int read_divisor(const graft_json *number, struct limits *limits, const char **fault) {
    struct decimal decimal;
    int status = number != NULL ? read_decimal(number, &decimal, fault) : GRAFT_OK;
    if (number == NULL || status != GRAFT_OK) {
        return status;
    }
    limits->places = decimal.n_fraction;
    for (int i = 0; i < decimal.n_whole + decimal.n_fraction && limits->divisor <= MOST_DIVISOR; i++) {
        const char digit = i < decimal.n_whole ? decimal.whole[i] : decimal.fraction[i - decimal.n_whole];
        limits->divisor = limits->divisor * 10 + (digit - '0');
    }
    if (limits->divisor > MOST_DIVISOR) {
        *fault = "it has too many digits";
        return GRAFT_ERROR_USAGE;
    }
    return GRAFT_OK;
}

/* Adds the numbers of one sign. Negative numbers are bounded by absolute value: lower and upper bound change places. A
 * bound of the other sign either forbids all of these numbers or none. */
static int add_sign(struct graft_rules *rules, int32_t from, int32_t to, const struct graft_number_bounds *bounds,
                    const struct decimal *decimals, int is_negative, const char **fault) {
    const graft_json *given[2] = {bounds->least, bounds->most};
    const int excludes[2] = {bounds->excludes_least, bounds->excludes_most};
    struct limits limits = {.is_integer = bounds->is_integer};
    for (int i = 0; i < 2; i++) {
        const int side = is_negative ? 1 - i : i;
        const struct decimal *decimal = &decimals[side];
        if (given[side] == NULL) {
            continue;
        }
        if (is_zero(decimal) || decimal->is_negative == is_negative) {
            limits.bounds[i] = decimal;
            limits.excludes[i] = excludes[side];
        } else if (i == 1) {
            return GRAFT_OK; /* no number of this sign is within the bound */
        }
    }
    int status = read_divisor(bounds->divisor, &limits, fault);
    if (status != GRAFT_OK) {
        return status;
    }
    if (is_negative) {
        const int32_t next = graft_rules_state(rules);
        graft_rules_range(rules, from, next, '-', '-');
        from = next;
    }
    return add_sizes(rules, from, to, &limits, fault);
}

int graft_json_bounded_rules(struct graft_rules *rules, int32_t from, int32_t to,
                             const struct graft_number_bounds *bounds, const char **fault) {
    struct decimal decimals[2];
    const graft_json *given[2] = {bounds->least, bounds->most};
    int status = GRAFT_OK;
    *fault = NULL;
    for (int i = 0; i < 2 && status == GRAFT_OK; i++) {
        status = given[i] != NULL ? read_decimal(given[i], &decimals[i], fault) : GRAFT_OK;
    }
    for (int is_negative = 0; is_negative < 2 && status == GRAFT_OK; is_negative++) {
        status = add_sign(rules, from, to, bounds, decimals, is_negative, fault);
    }
    return status;
}
