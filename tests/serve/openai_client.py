# SPDX-License-Identifier: Apache-2.0
"""What OpenAI's own Python client makes of `serve`: usage: openai_client.py PORT"""
import sys

import openai

client = openai.OpenAI(base_url=f"http://127.0.0.1:{sys.argv[1]}/v1", api_key="none", max_retries=0)
model = client.models.list().data[0].id
assert client.models.retrieve(model).id == model
hello = dict(model=model, messages=[{"role": "user", "content": "Hi"}], max_tokens=12, temperature=0)

whole = client.chat.completions.create(**hello)
text = whole.choices[0].message.content
assert whole.usage.completion_tokens <= 12 and whole.choices[0].finish_reason in ("stop", "length"), whole

parts, usage = [], None
for chunk in client.chat.completions.create(**hello, stream=True, stream_options={"include_usage": True}):
    usage = chunk.usage or usage
    parts += [choice.delta.content or "" for choice in chunk.choices]
assert "".join(parts) == text, (parts, text)
assert usage == whole.usage, (usage, whole.usage)

known = client.chat.completions.create(**hello, logprobs=True, top_logprobs=3).choices[0].logprobs.content
assert all(token.logprob <= 0 and len(token.top_logprobs) == 3 for token in known), known
assert all(token.top_logprobs[0].token == token.token for token in known), known

parameters = {"type": "object", "properties": {"x": {"enum": [1, 2]}}, "required": ["x"], "additionalProperties": False}
tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
called = client.chat.completions.create(**{**hello, "max_tokens": 100}, tools=tools, tool_choice="required")
call = called.choices[0].message.tool_calls[0]
assert call.function.name == "f" and called.choices[0].finish_reason == "tool_calls", called
again = hello["messages"] + [called.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "1"}]
client.chat.completions.create(**{**hello, "messages": again})

parsed = client.chat.completions.create(
    **{**hello, "max_tokens": 60},
    response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": {"enum": ["yes", "no"]}}},
)
assert parsed.choices[0].message.content in ('"yes"', '"no"'), parsed

several = client.completions.create(model=model, prompt=["One", "Two"], n=2, max_tokens=3, seed=1, temperature=1)
assert [choice.index for choice in several.choices] == [0, 1, 2, 3]

for wrong, kind in (
    (dict(temperature=-1), openai.BadRequestError),
    (dict(model="other"), openai.NotFoundError),
    (dict(extra_body={"no_such_field": 1}), openai.BadRequestError),
):
    try:
        client.chat.completions.create(**{**hello, **wrong})
    except kind as error:
        assert error.param or error.code, error
    else:
        raise AssertionError(wrong)

stream = client.chat.completions.create(**{**hello, "max_tokens": 100000}, stream=True, extra_body={"ignore_eos": True})
next(iter(stream))
stream.close()
print("fine")
