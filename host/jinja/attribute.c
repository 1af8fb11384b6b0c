/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute and item access: "a.b" and "a['b']". The first prefers a method to a member of a dict, the second a member
 * to a method, so `message.items` is always the method. What is missing is an undefined value. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/run.h"
#include "jinja/unicode.h"

int graft_jinja_need_defined(struct graft_jinja_run *run, const struct graft_jinja_value *value) {
    if (value->kind != GRAFT_JINJA_UNDEFINED) {
        return GRAFT_OK;
    }
    const char *name = value->as.missing.name, *owner = value->as.missing.owner;
    if (value->as.missing.unsafe) {
        return graft_jinja_fail(run, "access to attribute '%s' of '%s' object is unsafe", name, owner);
    }
    return owner == NULL ? graft_jinja_fail(run, "'%s' is undefined", name)
                         : graft_jinja_fail(run, "'%s object' has no attribute '%s'", owner, name);
}

static struct graft_jinja_value missing_in(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                                           const struct graft_jinja_string *name) {
    const char *copy = graft_jinja_arena_copy(&run->arena, name->bytes, name->length);
    return graft_jinja_missing(copy != NULL ? copy : "?", graft_jinja_type_name(self));
}

static int loop_attribute(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                          const struct graft_jinja_string *name, struct graft_jinja_value *result) {
    const struct graft_jinja_loop *loop = self->as.loop;
    const int64_t i = (int64_t)loop->i, n = (int64_t)loop->n;
    const struct {
        const char *name;
        struct graft_jinja_value value;
    } attributes[] = {
        {"index", graft_jinja_int(i + 1)},
        {"index0", graft_jinja_int(i)},
        {"first", graft_jinja_bool(i == 0)},
        {"last", graft_jinja_bool(i + 1 == n)},
        {"length", graft_jinja_int(n)},
        {"revindex", graft_jinja_int(n - i)},
        {"revindex0", graft_jinja_int(n - i - 1)},
        {"depth", graft_jinja_int(loop->depth + 1)},
        {"depth0", graft_jinja_int(loop->depth)},
    };
    for (size_t k = 0; k < sizeof attributes / sizeof attributes[0]; k++) {
        if (graft_jinja_string_is(name, attributes[k].name)) {
            *result = attributes[k].value;
            return GRAFT_OK;
        }
    }
    const int is_previous = graft_jinja_string_is(name, "previtem");
    if (is_previous || graft_jinja_string_is(name, "nextitem")) {
        const int there = is_previous ? i > 0 : i + 1 < n;
        *result = there
                      ? loop->items[is_previous ? i - 1 : i + 1]
                      : graft_jinja_missing(is_previous ? "there is no previous item" : "there is no next item", NULL);
        return GRAFT_OK;
    }
    if (!graft_jinja_find_method(run, self, name, result)) {
        *result = missing_in(run, self, name);
    }
    return GRAFT_OK;
}

/* Finds a member of a dict by name. */
static int find_member(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                       const struct graft_jinja_string *name, struct graft_jinja_value *result) {
    if (self->kind == GRAFT_JINJA_LIST && self->as.list->type_name == graft_jinja_group_type) {
        const int is_list = graft_jinja_string_is(name, "list");
        if (is_list || graft_jinja_string_is(name, "grouper")) {
            *result = self->as.list->items[is_list];
            return 1;
        }
    }
    if (self->kind != GRAFT_JINJA_DICT && self->kind != GRAFT_JINJA_NAMESPACE) {
        return 0;
    }
    const struct graft_jinja_value key = graft_jinja_text(*name);
    const struct graft_jinja_value *found = graft_jinja_find(run, self->as.dict, &key);
    if (found != NULL) {
        *result = *found;
    }
    return found != NULL;
}

int graft_jinja_attribute(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                          const struct graft_jinja_string *name, struct graft_jinja_value *result) {
    const struct graft_jinja_value object = *self;
    int status = graft_jinja_need_defined(run, &object);
    if (status != GRAFT_OK) {
        return status;
    }
    if (object.kind == GRAFT_JINJA_DICT) {
        status = graft_jinja_spend(run, 2 * object.as.dict->n);
    }
    if (object.kind == GRAFT_JINJA_LOOP) {
        return loop_attribute(run, &object, name, result);
    }
    if (!graft_jinja_find_method(run, &object, name, result) && !find_member(run, &object, name, result)) {
        *result = missing_in(run, &object, name);
    }
    return status;
}

/* Finds element `i` of a string or list; a negative index counts from the end. */
static int element(struct graft_jinja_run *run, const struct graft_jinja_value *self, int64_t i,
                   struct graft_jinja_value *result) {
    const int is_text = self->kind == GRAFT_JINJA_STRING;
    const struct graft_jinja_string *string = &self->as.string;
    size_t length = is_text ? graft_utf8_count(string->bytes, string->length) : self->as.list->n;
    int64_t at = i < 0 ? i + (int64_t)length : i;
    if (at < 0 || at >= (int64_t)length) {
        *result = graft_jinja_missing("the element", graft_jinja_type_name(self));
    } else if (is_text) {
        size_t begin = graft_jinja_offset_of(string->bytes, string->length, (size_t)at);
        uint32_t code;
        *result =
            graft_jinja_text(graft_jinja_part(string, begin, begin + graft_utf8_read(string->bytes + begin, &code)));
    } else {
        *result = self->as.list->items[at];
    }
    return is_text ? graft_jinja_spend(run, string->length) : GRAFT_OK;
}

int graft_jinja_item(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                     const struct graft_jinja_value *key, struct graft_jinja_value *result) {
    const struct graft_jinja_value object = *self, asked = *key;
    int status = graft_jinja_need_defined(run, &object);
    int64_t i = 0;
    if (status != GRAFT_OK) {
        return status;
    }
    const int has_elements = object.kind == GRAFT_JINJA_STRING ||
                             (object.kind == GRAFT_JINJA_LIST && object.as.list->form < GRAFT_JINJA_VIEW);
    if (has_elements && graft_jinja_as_int(&asked, &i)) {
        return element(run, &object, i, result);
    }
    if (object.kind == GRAFT_JINJA_DICT || object.kind == GRAFT_JINJA_NAMESPACE) {
        const struct graft_jinja_value *found = graft_jinja_find(run, object.as.dict, &asked);
        status = graft_jinja_spend(run, 2 * object.as.dict->n);
        if (found != NULL || status != GRAFT_OK) {
            *result = found != NULL ? *found : object;
            return status;
        }
    }
    if (asked.kind == GRAFT_JINJA_STRING) {
        return graft_jinja_attribute(run, &object, &asked.as.string, result);
    }
    *result = graft_jinja_missing("the element", graft_jinja_type_name(&object));
    return GRAFT_OK;
}

/* Clamps a bound as Python's slice.indices does: to [0, length], or to [-1, length - 1] for a negative step. */
static int64_t bound(int64_t given, int64_t length, int backwards) {
    int64_t low = backwards ? -1 : 0, high = backwards ? length - 1 : length;
    int64_t at = given < 0 ? (given < -length ? low : given + length) : given;
    return at < low ? low : at > high ? high : at;
}

static int slice_text(struct graft_jinja_run *run, const struct graft_jinja_string *string, int64_t start, int64_t stop,
                      int64_t step, struct graft_jinja_value *result) {
    if (step == 1) {
        size_t begin = graft_jinja_offset_of(string->bytes, string->length, (size_t)start);
        size_t n = stop > start ? (size_t)(stop - start) : 0;
        size_t end = begin + graft_jinja_offset_of(string->bytes + begin, string->length - begin, n);
        *result = graft_jinja_text(graft_jinja_part(string, begin, end));
        return graft_jinja_spend(run, string->length);
    }
    const struct graft_jinja_value *characters = NULL;
    const struct graft_jinja_value whole = graft_jinja_text(*string);
    struct graft_jinja_builder text = {0};
    size_t n = 0;
    int status = graft_jinja_walk(run, &whole, &characters, &n);
    for (int64_t i = start; (step > 0 ? i < stop : i > stop) && status == GRAFT_OK; i += step) {
        status = graft_jinja_add(run, &text, &characters[i].as.string);
    }
    return graft_jinja_finish_text(run, &text, status, result);
}

static int slice_list(struct graft_jinja_run *run, const struct graft_jinja_list *list, int64_t start, int64_t stop,
                      int64_t step, struct graft_jinja_value *result) {
    struct graft_jinja_list *part = graft_jinja_new_list(run, list->form, 0);
    int status = part != NULL ? graft_jinja_spend(run, step == 1 ? 0 : list->n) : graft_jinja_failed(run);
    if (status == GRAFT_OK && step == 1) {
        /* Lists never change once they are made, so a slice can share the elements. */
        part->n = part->capacity = stop > start ? (size_t)(stop - start) : 0;
        part->items = part->n > 0 ? list->items + start : NULL;
        start = stop;
    }
    for (int64_t i = start; (step > 0 ? i < stop : i > stop) && status == GRAFT_OK; i += step) {
        status = graft_jinja_push(run, part, &list->items[i]);
    }
    *result = graft_jinja_of_list(part);
    return status;
}

int graft_jinja_slice(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                      const struct graft_jinja_value *bounds[3], struct graft_jinja_value *result) {
    int64_t given[3] = {0, 0, 1};
    int has[3];
    int status = graft_jinja_need_defined(run, self);
    for (int i = 0; i < 3 && status == GRAFT_OK; i++) {
        has[i] = bounds[i] != NULL && bounds[i]->kind != GRAFT_JINJA_NONE;
        status = has[i] ? graft_jinja_want_int(run, bounds[i], "a slice's bound", &given[i]) : GRAFT_OK;
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const int is_text = self->kind == GRAFT_JINJA_STRING;
    if (!is_text && (self->kind != GRAFT_JINJA_LIST || self->as.list->form >= GRAFT_JINJA_VIEW)) {
        /* jinja2 finds neither an item nor an attribute here. */
        *result = graft_jinja_missing("the slice", graft_jinja_type_name(self));
        return GRAFT_OK;
    }
    if (given[2] == 0 || given[2] > INT32_MAX || given[2] < -INT32_MAX) {
        return graft_jinja_fail(run, given[2] == 0 ? "slice step cannot be zero" : "slice step is too large");
    }
    const int backwards = given[2] < 0;
    int64_t length =
        is_text ? (int64_t)graft_utf8_count(self->as.string.bytes, self->as.string.length) : (int64_t)self->as.list->n;
    int64_t start = has[0] ? bound(given[0], length, backwards) : backwards ? length - 1 : 0;
    int64_t stop = has[1] ? bound(given[1], length, backwards) : backwards ? -1 : length;
    return is_text ? slice_text(run, &self->as.string, start, stop, given[2], result)
                   : slice_list(run, self->as.list, start, stop, given[2], result);
}

int graft_jinja_attribute_path(struct graft_jinja_run *run, const struct graft_jinja_value *self,
                               const struct graft_jinja_value *path, struct graft_jinja_value *result) {
    struct graft_jinja_value at = *self;
    int status = GRAFT_OK;
    if (path->kind != GRAFT_JINJA_STRING) {
        return graft_jinja_item(run, self, path, result);
    }
    const struct graft_jinja_string *whole = &path->as.string;
    for (size_t begin = 0; begin <= whole->length && status == GRAFT_OK;) {
        const char *dot = memchr(whole->bytes + begin, '.', whole->length - begin);
        size_t end = dot != NULL ? (size_t)(dot - whole->bytes) : whole->length;
        struct graft_jinja_value key = graft_jinja_text(graft_jinja_part(whole, begin, end));
        int64_t number = 0;
        size_t i = begin;
        for (; i < end && end - begin < 10 && whole->bytes[i] >= '0' && whole->bytes[i] <= '9'; i++) {
            number = 10 * number + whole->bytes[i] - '0';
        }
        if (i == end && end > begin) {
            key = graft_jinja_int(number);
        }
        status = graft_jinja_item(run, &at, &key, &at);
        begin = end + 1;
    }
    *result = at;
    return status;
}
