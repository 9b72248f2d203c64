"""Real SDKs in front of the proxy: plain, streamed, with tools over many turns, and turned away at first."""
import json
import sys
import urllib.request

import anthropic
import openai

base, admin = sys.argv[1:3]


def sessions():
    with urllib.request.urlopen(admin + "/sessions") as answer:
        return {s["explicit_id"]: s for s in json.load(answer)["sessions"]}


def long_output(n):
    return "\n".join(f"{n}:{line} the value of record {n * 1000 + line} is {line * 7}" for line in range(60))


def openai_chat():
    client = openai.OpenAI(base_url=base + "/v1", api_key="sk-test", default_headers={"x-session-id": "openai-chat"})
    plain = client.chat.completions.create(model="mock", messages=[{"role": "user", "content": "Hello"}])
    assert plain.choices[0].message.content and plain.usage.prompt_tokens > 0

    messages = [{"role": "system", "content": "You read records."}, {"role": "user", "content": "Read them all."}]
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}
    sizes = []
    for n in range(12):
        call = {"id": f"call_{n}", "type": "function", "function": {"name": "read", "arguments": json.dumps({"n": n})}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": long_output(n)})
        text, usage = "", None
        with client.chat.completions.create(
            model="mock", messages=messages, tools=[tool], stream=True, stream_options={"include_usage": True}
        ) as stream:
            for chunk in stream:
                text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
                usage = chunk.usage or usage
        assert text and usage
        sizes.append(usage.prompt_tokens)
    session = sessions()["openai-chat"]
    assert session["prunes"] >= 1 and max(sizes) < 9000, (session, sizes)

    away = client.with_options(max_retries=3).chat.completions.create(
        model="mock", messages=[{"role": "user", "content": "turn me away, please"}])
    assert away.choices[0].message.content
    assert [model.id for model in client.models.list()]
    try:
        client.chat.completions.create(model="mock", messages=[{"role": "tool", "tool_call_id": "x", "content": "y"}])
        raise AssertionError("a broken chain must be refused")
    except openai.BadRequestError as refusal:
        assert refusal.body, "the provider's own words arrive"
    print(f"openai chat: 12 turns of tools, streamed, {session['prunes']} prunes, sizes {sizes[0]}..{sizes[-1]}")


def openai_responses():
    client = openai.OpenAI(base_url=base + "/v1", api_key="sk-test", default_headers={"x-session-id": "openai-responses"})
    items = [{"role": "user", "content": "Read them all."}]
    tool = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {}}}
    sizes = []
    for n in range(12):
        items.append({"type": "function_call", "call_id": f"call_{n}", "name": "read", "arguments": json.dumps({"n": n})})
        items.append({"type": "function_call_output", "call_id": f"call_{n}", "output": long_output(n)})
        with client.responses.stream(model="mock", input=items, tools=[tool], instructions="You read records.") as stream:
            kinds = {event.type for event in stream}
            answer = stream.get_final_response()
        assert "response.completed" in kinds and answer.output_text
        sizes.append(answer.usage.input_tokens)
    session = sessions()["openai-responses"]
    assert session["prunes"] >= 1 and max(sizes) < 9000, (session, sizes)
    try:
        client.responses.create(
            model="mock", input=[{"type": "function_call_output", "call_id": "x", "output": "y"}])
        raise AssertionError("a lone output must be refused")
    except openai.BadRequestError as refusal:
        assert refusal.body
    print(f"openai responses: 12 turns of tools, streamed, {session['prunes']} prunes, sizes {sizes[0]}..{sizes[-1]}")


def anthropic_messages():
    client = anthropic.Anthropic(base_url=base, api_key="sk-test", default_headers={"x-session-id": "anthropic"})
    messages = [{"role": "user", "content": "Read them all."}]
    tool = {"name": "read", "input_schema": {"type": "object", "properties": {}}}
    system = [{"type": "text", "text": "You read records.", "cache_control": {"type": "ephemeral"}}]
    options = {"model": "mock", "max_tokens": 256, "system": system, "tools": [tool]}
    sizes = []
    for n in range(12):
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"n": n}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": long_output(n)}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        with client.messages.stream(messages=messages, **options) as stream:
            text = "".join(stream.text_stream)
            usage = stream.get_final_message().usage
        assert text
        cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        sizes.append(usage.input_tokens + cached)
    session = sessions()["anthropic"]
    assert session["prunes"] >= 1 and max(sizes) < 9000 and session["input_tokens"] == sizes[-1], (session, sizes)
    counted = client.messages.count_tokens(messages=messages, model="mock", system=system, tools=[tool])
    assert abs(counted.input_tokens - sizes[-1]) < 100, "counted as it would be sent"
    away = client.with_options(max_retries=3).messages.create(
        model="mock", max_tokens=64, messages=[{"role": "user", "content": "turn me away, if you like"}])
    assert away.content[0].text
    print(f"anthropic messages: 12 turns of tools, streamed, {session['prunes']} prunes, sizes {sizes[0]}..{sizes[-1]}")


openai_chat()
openai_responses()
anthropic_messages()
