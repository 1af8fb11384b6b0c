/* SPDX-License-Identifier: Apache-2.0 */
/* The natural order of names: "layers.2" before "layers.10". */
#include <string.h>

#include "names/key_list.h"

/* Compares numbers of any length: without leading zeros the longer one is greater. */
static int compare_numbers(const char *left, size_t left_length, const char *right, size_t right_length) {
    for (; left_length > 1 && *left == '0'; left_length--) {
        left++;
    }
    for (; right_length > 1 && *right == '0'; right_length--) {
        right++;
    }
    if (left_length != right_length) {
        return left_length < right_length ? -1 : 1;
    }
    return memcmp(left, right, left_length);
}

/* A component between two dots: letters followed by a number. */
struct component {
    const char *text;
    size_t letters;
    size_t digits;
};

static struct component read(const char *text) {
    size_t length = strcspn(text, "."), letters = length;
    while (letters > 0 && text[letters - 1] >= '0' && text[letters - 1] <= '9') {
        letters--;
    }
    return (struct component){text, letters, length - letters};
}

static int compare(const struct component *a, const struct component *b) {
    int is_number[] = {a->letters == 0 && a->digits > 0, b->letters == 0 && b->digits > 0};
    if (is_number[0] != is_number[1]) {
        return is_number[0] ? -1 : 1;
    }
    size_t shorter = a->letters < b->letters ? a->letters : b->letters;
    int order = memcmp(a->text, b->text, shorter);
    if (order == 0 && a->letters != b->letters) {
        order = a->letters < b->letters ? -1 : 1;
    }
    if (order != 0 || a->digits == 0 || b->digits == 0) {
        return order != 0 ? order : (a->digits > 0) - (b->digits > 0);
    }
    return compare_numbers(a->text + a->letters, a->digits, b->text + b->letters, b->digits);
}

int graft_key_order(const char *left, const char *right) {
    for (;;) {
        struct component a = read(left), b = read(right);
        int order = compare(&a, &b);
        left += a.letters + a.digits;
        right += b.letters + b.digits;
        if (order != 0 || *left == '\0' || *right == '\0') {
            order = order != 0 ? order : (*left != '\0') - (*right != '\0');
            return order;
        }
        left++;
        right++;
    }
}
