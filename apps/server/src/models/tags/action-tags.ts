import { actionModelTool, actionOperationName, type SessionAction } from '@belay/protocol';
import type { ModelOutput } from '../model.js';
import { toCall } from './tag-model.js';
import { readTags } from './tag-parser.js';

/**
 * A reply without calls that names actions of the session by tags, as some models write them that know RunGPT’s form
 * better than tools, with these as its calls.
 */
export function withActionTags(
  output: ModelOutput,
  actions: readonly SessionAction[],
): ModelOutput {
  const isPlain = output.calls.length === 0 && output.finish === 'stop';
  if (!isPlain || actions.length === 0 || !output.text.includes('{{')) return output;
  const found = (name: string) =>
    actions.find((one) => one.name === name || actionOperationName(one) === name);
  const { text, tags } = readTags(output.text, (name) => found(name) !== undefined);
  // One that is not an action’s may be what the user asked for, such as a template.
  if (tags.length === 0 || tags.some(({ name }) => found(name) === undefined)) return output;
  const calls = tags.flatMap((tag) => {
    const action = found(tag.name);
    if (!action) return [];
    return [toCall({ ...tag, name: actionOperationName(action) }, actionModelTool(action))];
  });
  return { ...output, text: text.trim(), calls, finish: 'calls' };
}
