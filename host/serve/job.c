/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/job.h"

#include <event2/event.h>

#include "base/alloc.h"
#include "graft/host/grammar.h"

void graft_event_free(struct graft_event *event) {
    if (event != NULL) {
        graft_free(event->text);
        graft_free(event->info);
        graft_free(event);
    }
}

static size_t choices_of(const struct graft_request *request, size_t n_prompts) {
    const int is_answer = request->kind == GRAFT_REQUEST_CHAT || request->kind == GRAFT_REQUEST_COMPLETION;
    return is_answer ? n_prompts * (size_t)request->n : 0;
}

struct graft_job *graft_job_create(struct graft_server *server, struct graft_request *request,
                                   struct graft_ids *prompts, size_t n_prompts) {
    struct graft_job *job = graft_alloc(1, sizeof *job);
    if (job == NULL) {
        return NULL;
    }
    job->n_choices = choices_of(request, n_prompts);
    job->error = graft_error_none();
    job->server = server;
    job->making = graft_alloc(job->n_choices, sizeof *job->making);
    job->said = graft_alloc(job->n_choices, sizeof *job->said);
    job->done = graft_alloc(1, sizeof *job->done);
    job->read = graft_alloc(1, sizeof *job->read);
    if (job->making == NULL || job->said == NULL || job->done == NULL || job->read == NULL) {
        graft_job_free(job);
        return NULL;
    }
    *job->done = (struct graft_event){.job = job, .kind = GRAFT_EVENT_DONE};
    *job->read = (struct graft_event){.job = job, .kind = GRAFT_EVENT_READ};
    job->request = *request;
    *request = (struct graft_request){0};
    job->prompts = prompts;
    job->n_prompts = prompts != NULL ? n_prompts : 0;
    return job;
}

void graft_job_free(struct graft_job *job) {
    if (job == NULL) {
        return;
    }
    for (size_t i = 0; i < job->n_choices; i++) {
        if (job->making != NULL) {
            graft_decode_stream_destroy(job->making[i].stream);
            graft_text_free(&job->making[i].held);
        }
        if (job->said != NULL) {
            graft_text_free(&job->said[i].text);
            graft_free(job->said[i].infos);
        }
    }
    if (job->leaving != NULL) {
        event_free(job->leaving);
    }
    if (job->timer != NULL) {
        event_free(job->timer);
    }
    graft_grammar_close(job->grammar);
    graft_event_free(job->done);
    graft_event_free(job->read);
    graft_free(job->making);
    graft_free(job->said);
    graft_free(job->vectors);
    graft_request_finish(&job->request);
    graft_request_prompts_free(job->prompts, job->n_prompts);
    graft_free(job);
}
