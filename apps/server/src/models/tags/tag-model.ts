import {
  actionOperationName,
  type Message,
  type ModelTool,
  type OperationCall,
} from '@belay/protocol';
import { z } from 'zod';
import type { Model, ModelOutput } from '../model.js';
import { offeredTool } from '../offered-tool.js';
import { readTags, type Tag } from './tag-parser.js';
import { instructions, writtenCall, writtenResults, type OfferedTool } from './tag-prompt.js';
import { TagFilter } from './tag-filter.js';

/** A model without tool calling: it gets the operations as text, and calls them with tags in its reply. */
export function tagModel(inner: Model): Model {
  return {
    async generate(request, call) {
      // A summary makes no calls, and the conversation contains calls as text here.
      const operations = request.purpose === 'compact' ? [] : request.operations;
      const tools = operations.map((operation) => ({
        operation,
        tool: offeredTool(operation, call),
      }));
      const offered = new Map(tools.map(({ operation, tool }) => [operation, tool]));
      const filter = new TagFilter((name) => offered.has(callOf(name, offered)));
      const output = await inner.generate(
        {
          ...request,
          messages: asText(request.messages, tools),
          operations: [],
        },
        {
          ...call,
          delta: (kind, text) => {
            const shown = kind === 'text' ? filter.push(text) : text;
            if (shown) call.delta(kind, shown);
          },
        },
      );
      const rest = filter.end();
      if (rest) call.delta('text', rest);
      return withCalls(output, offered);
    },
  };
}

/** The model’s own text is sent back word for word. */
const opaqueTags = z.object({
  tags: z.string(),
  inner: z.record(z.string(), z.unknown()).optional(),
});

function withCalls(output: ModelOutput, offered: ReadonlyMap<string, ModelTool>): ModelOutput {
  const { text, tags } = readTags(output.text, (name) => offered.has(callOf(name, offered)));
  if (tags.length === 0) return output;
  const calls = tags.map((tag) => {
    const name = callOf(tag.name, offered);
    return toCall({ ...tag, name }, offered.get(name));
  });
  const opaque = { tags: output.text, ...(output.opaque && { inner: output.opaque }) };
  const finish = output.finish === 'stop' || output.finish === 'other' ? 'calls' : output.finish;
  return { ...output, text: text.trim(), calls, finish, opaque };
}

/** An action may be named without `action.`, as in RunGPT. */
const callOf = (name: string, offered: ReadonlyMap<string, unknown>): string => {
  const action = actionOperationName({ name });
  return !offered.has(name) && offered.has(action) ? action : name;
};

export function toCall(tag: Tag, tool: ModelTool | undefined): OperationCall {
  const id = `tag_${crypto.randomUUID()}`;
  const known = { id, operation: tag.name };
  if (tag.invalid !== undefined) {
    return { ...known, input: tag.source, invalid: `The tag cannot be read: ${tag.invalid}.` };
  }
  const properties = tool ? propertiesOf(tool.parameters) : {};
  if (takesList(properties) && !Array.isArray(tag.values[0])) {
    const args = tag.values.map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    );
    return { ...known, input: { ...(args.length > 0 && { args }), ...tag.keyed } };
  }
  const order = Object.keys(properties);
  if (tool && tag.values.length > order.length) {
    const invalid = `${tag.name} takes ${order.length} values at most: ${order.join(', ')}.`;
    return { ...known, input: tag.source, invalid };
  }
  const positional = tag.values.map((value, index) => [order[index] ?? `value${index + 1}`, value]);
  return { ...known, input: { ...Object.fromEntries(positional), ...tag.keyed } };
}

function asText(messages: Message[], tools: readonly OfferedTool[]): Message[] {
  const told = tools.length > 0 ? instructions(tools) : '';
  const first = messages.findIndex(({ role }) => role === 'system');
  const written = messages.map((message, index): Message => {
    if (index === first && told) return { role: 'system', text: `${textOf(message)}\n\n${told}` };
    if (message.role === 'assistant') return plainReply(message);
    if (message.role !== 'tool') return message;
    return {
      role: 'user',
      text: writtenResults(message.results),
      images: message.results.flatMap(({ images }) => images),
    };
  });
  return first < 0 && told ? [{ role: 'system', text: told }, ...written] : written;
}

function plainReply(message: Extract<Message, { role: 'assistant' }>): Message {
  if (message.calls.length === 0) return message;
  const opaque = opaqueTags.safeParse(message.opaque);
  if (opaque.success) {
    return { role: 'assistant', text: opaque.data.tags, calls: [], opaque: opaque.data.inner };
  }
  const text = [message.text, ...message.calls.map(writtenCall)].filter(Boolean).join('\n');
  return { role: 'assistant', text, calls: [] };
}

/** An action without named parameters, like those of RunGPT: all values of the tag form its list. */
const takesList = (properties: Record<string, unknown>): boolean =>
  Object.keys(properties).join() === 'args' &&
  z.object({ type: z.literal('array') }).safeParse(properties['args']).success;

const textOf = (message: Message | undefined): string =>
  message && message.role !== 'tool' ? message.text : '';

const propertiesOf = (schema: Record<string, unknown>): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).catch({}).parse(schema['properties']);
