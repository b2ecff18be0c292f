import { text } from 'node:stream/consumers';
import {
  AppError,
  neededSecrets,
  permissionSentences,
  type InstalledAction,
} from '@belay/protocol';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo, printResult, singleLine, type LineOutput } from '../output.js';
import { askHidden } from '../secret-input.js';
import { printList } from '../print-list.js';

const kinds = { action: 'action', skill: 'skill', mcp: 'MCP' };

/** `belay actions list`. */
export async function listActions(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).actions.list(), options, {
    empty: 'No actions are installed. See: belay actions install --help',
    row: (action) => [
      action.name,
      kinds[action.kind],
      stateOf(action),
      action.manifest.description_for_human,
    ],
  });
}

/** `belay actions show`. */
export async function showAction(name: string, options: PrintOptions): Promise<void> {
  const output = outputTo(process.stdout);
  const action = await clientFor(options).actions.read(name);
  if (options.json) return output.json(action);
  const { manifest, source } = action;
  const title = singleLine(`${manifest.name_for_human} (${action.name})`, Infinity);
  output.line(output.style('bold', title));
  output.line(singleLine(manifest.description_for_human, Infinity));
  output.line('');
  output.line(`kind       ${kinds[action.kind]}`);
  output.line(`from       ${singleLine(sourceText(source), Infinity)}`);
  output.line(`installed  ${action.installed}`);
  output.line(`state      ${stateOf(action)}`);
  if (action.error !== null) output.line(output.style('red', singleLine(action.error, Infinity)));
  for (const sentence of permissionSentences(manifest))
    output.line(`- ${singleLine(sentence, Infinity)}`);
  tellMissing(action, output);
}

/** `belay actions remove`. */
export async function removeAction(name: string, options: PrintOptions): Promise<void> {
  await clientFor(options).actions.remove(name);
  printResult(options, { removed: name }, `Removed ${name}.`);
}

/** `belay actions enable` and `disable`. */
export async function enableAction(
  name: string,
  { enabled, ...options }: PrintOptions & { enabled: boolean },
): Promise<void> {
  const action = await clientFor(options).actions.change(name, { enabled });
  printResult(options, action, `${enabled ? 'Enabled' : 'Disabled'} ${name} for new sessions.`);
}

/** `belay actions secret`. */
export async function setActionSecret(
  name: string,
  key: string,
  options: PrintOptions & { remove?: boolean },
): Promise<void> {
  const { actions } = clientFor(options);
  const output = outputTo(process.stdout);
  if (options.remove) {
    await actions.removeSecret(name, key);
    return printResult(options, { removed: key }, `Removed ${key}.`);
  }
  const value = process.stdin.isTTY
    ? await askHidden(`${key}: `, `${key} was not given.`)
    : await text(process.stdin);
  const trimmed = value.replace(/\r?\n$/, '');
  if (trimmed === '')
    throw new AppError('invalid_input', `${key} has no value. Write it to standard input.`);
  const action = await actions.setSecret(name, key, { value: trimmed });
  if (options.json) return output.json(action);
  output.line(`Saved ${key} for ${name}.`);
  tellMissing(action, output);
}

export function tellMissing(action: InstalledAction, output: LineOutput): void {
  for (const key of neededSecrets(action))
    output.line(
      output.style('yellow', `It still needs a secret: belay actions secret ${action.name} ${key}`),
    );
}

export const sourceText = ({ from, version, commit, folder }: InstalledAction['source']): string =>
  [
    from + (version === null ? '' : `@${version}`),
    ...(folder ? [`folder ${folder}`] : []),
    ...(commit === null ? [] : [`commit ${commit.slice(0, 12)}`]),
  ].join(', ');

function stateOf(action: InstalledAction): string {
  const { enabled, state } = action;
  if (state !== 'ready') return state;
  if (!enabled) return 'disabled';
  return neededSecrets(action).length > 0 ? 'needs a secret' : 'ready';
}
