import { pluralText, type AgentTrace, type ChangeStatement } from '@belay/protocol';
import { singleLine } from '../output.js';

/** What a trace says of the lines of a commit; that it was not checked, if there is one. */
export function traceSentences(
  { predicate }: ChangeStatement,
  trace: AgentTrace | undefined,
): string[] {
  if (!trace)
    return predicate.trace ? ['Its trace of lines was not checked: ask for it with --trace.'] : [];
  const lines = new Map<string, number>();
  for (const { conversations } of trace.files)
    for (const { contributor, ranges } of conversations) {
      const { type, model_id: model } = contributor;
      const name = model === undefined ? type : `${type} (${model})`;
      const count = ranges.reduce((sum, one) => sum + one.end_line - one.start_line + 1, 0);
      lines.set(name, (lines.get(name) ?? 0) + count);
    }
  const each = [...lines].map(([name, count]) => `${name} ${pluralText(count, 'line')}`);
  const { left_out_files: leftOut } = trace.metadata['io.belay'];
  const rest = leftOut > 0 ? ` It leaves out ${pluralText(leftOut, 'file')}.` : '';
  const said = `The trace is the one of the statement: ${each.join(', ') || 'no added lines'}.${rest}`;
  return [singleLine(said, Infinity)];
}
