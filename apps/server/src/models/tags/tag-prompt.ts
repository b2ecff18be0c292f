import { resultText, type Message, type ModelTool, type OperationCall } from '@belay/protocol';
import { z } from 'zod';

/** A tool with its name in the prompt. */
export interface OfferedTool {
  operation: string;
  tool: ModelTool;
}

/** The description of the operations for a model without tool calling. */
export function instructions(tools: readonly OfferedTool[]): string {
  return `# Operations

You act by writing tags into your reply. A tag calls an operation; its result comes in the next message.

{{name("first value", 2, true, key="another value")}}

- Write each tag on a line of its own, and stop after the tags: do not guess results.
- Values are JSON. Those without a key come first, in the order of the parameters below; the others as key=value.
- For text of several lines write """text""": nothing in it needs escaping.
- Several tags in one reply run in their order.

${tools.map(described).join('\n\n')}`;
}

/** Another model's call, in the form in which this model would have written it. */
export function writtenCall(call: OperationCall): string {
  const members = z.record(z.string(), z.unknown()).safeParse(call.input);
  const values = members.success
    ? Object.entries(members.data).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    : [];
  return `{{${call.operation}(${values.join(', ')})}}`;
}

export function writtenResults(results: Extract<Message, { role: 'tool' }>['results']): string {
  return results
    .map((result) => {
      const outcome = result.failed ? 'failed' : 'result';
      return `[${outcome} of ${result.operation}]\n${resultText(result)}`;
    })
    .join('\n\n');
}

const parameterSchema = z.object({
  properties: z.record(z.string(), z.looseObject({ description: z.string().optional() })).catch({}),
  required: z.array(z.string()).catch([]),
});

function described({ operation, tool }: OfferedTool): string {
  const { properties, required } = parameterSchema.parse(tool.parameters);
  const lines = Object.entries(properties).map(([key, { description, ...schema }]) => {
    const need = required.includes(key) ? 'required' : 'optional';
    const words = description ? ` ${description}` : '';
    return `- ${key} (${need}): ${JSON.stringify(schema)}${words}`;
  });
  return [`## ${operation}`, tool.description, ...lines].join('\n');
}
