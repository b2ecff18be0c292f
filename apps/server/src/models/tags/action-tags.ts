import { actionModelTool, actionOperationName, type SessionAction } from '@belay/protocol';
import type { ModelOutput } from '../model.js';
import { toCall } from './tag-model.js';
import { readTags } from './tag-parser.js';

/**
 * Converts tags that name the session’s actions to calls, in a reply without calls; models that know RunGPT’s format
 * better than tools write them.
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
  // Tags with other names may be what the user asked for, such as a template.
  if (tags.length === 0 || tags.some(({ name }) => found(name) === undefined)) return output;
  const calls = tags.flatMap((tag) => {
    const action = found(tag.name);
    if (!action) return [];
    return [toCall({ ...tag, name: actionOperationName(action) }, actionModelTool(action))];
  });
  return { ...output, text: text.trim(), calls, finish: 'calls' };
}
