import { requiredSecrets, type ActionManifest, type ActionSource } from './actions.js';
import { pluralText } from './format.js';

/** The permissions of an action, as sentences for people. */
export function permissionSentences(manifest: ActionManifest): string[] {
  const { permissions, packages, base_image: base, services, kind, skill, asynchronous } = manifest;
  if (skill) return skillSentences(skill);
  const { network, optional_secrets: optional = [], workspace } = permissions;
  const installed = [
    ...named('Debian', packages.debian),
    ...named('npm', packages.npm),
    ...named('pip', packages.pip),
  ];
  return [
    network.length > 0 ? `Reaches ${network.join(', ')}.` : 'Has no network.',
    ...secretSentence('Is given', requiredSecrets(permissions)),
    ...secretSentence('Can be given', optional),
    ...(kind === 'mcp' ? serverSentences(manifest) : [workspaceSentences[workspace]]),
    ...(base === undefined ? [] : [`Is made from the image ${base}.`]),
    ...(installed.length > 0 ? [`Installs packages: ${installed.join('; ')}.`] : []),
    ...Object.entries(services).map(
      ([name, { image }]) => `Runs ${image ? `${name} (${image})` : name} beside it.`,
    ),
    ...(asynchronous ? ['Runs in the background of a session.'] : []),
    ...(permissions.warm_seconds > 0 && kind !== 'mcp'
      ? [`Keeps its container for ${permissions.warm_seconds} s after a call of a session.`]
      : []),
    kind === 'mcp'
      ? `Uses at most ${permissions.memory_mb} MB of memory.`
      : `Uses at most ${permissions.memory_mb} MB of memory and ${permissions.timeout_seconds} s a call.`,
  ];
}

/** The differences of another version: new sentences, and those that no longer apply. */
export function permissionChanges(
  before: ActionManifest | null,
  after: ActionManifest,
): { added: string[]; removed: string[] } {
  const was = before ? permissionSentences(before) : [];
  const is = permissionSentences(after);
  return {
    added: is.filter((sentence) => !was.includes(sentence)),
    removed: was.filter((sentence) => !is.includes(sentence)),
  };
}

/** Where an action comes from, for people who decide on another version of it. */
export const sourceSentence = ({
  from,
  version,
  folder,
}: Pick<ActionSource, 'from' | 'version' | 'folder'>): string =>
  `Comes from ${from || 'an upload'}${version === null ? '' : `@${version}`}${folder ? `, folder ${folder}` : ''}.`;

const secretSentence = (verb: string, keys: readonly string[]): string[] =>
  keys.length > 0
    ? [`${verb} the ${keys.length > 1 ? 'secrets' : 'secret'} ${keys.join(', ')}.`]
    : [];

/** One container serves all sessions, and exists as long as this server runs. */
const serverSentences = ({ command, environment = {} }: ActionManifest): string[] => [
  'Runs an MCP server for all sessions, which sees no workspace.',
  `Its command is ${(command ?? ['run']).join(' ')}.`,
  ...Object.entries(environment).map(([name, value]) => `Sets the variable ${name} to ${value}.`),
];

const skillSentences = ({
  instructions,
  files,
  programs,
}: NonNullable<ActionManifest['skill']>): string[] => [
  `Guides agents that read it by instructions (${instructions}).`,
  files > 0 ? `Puts ${pluralText(files, 'file')} into their sandboxes.` : 'Has no other files.',
  ...(programs.length > 0
    ? [`Agents may run its programs, with the rights of their sandboxes: ${programs.join(', ')}.`]
    : []),
];

const workspaceSentences = {
  none: 'Does not see the workspace.',
  read: 'Reads the workspace.',
  write: 'Reads and changes the workspace.',
};

const named = (kind: string, names: readonly string[] = []): string[] =>
  names.length > 0 ? [`${kind} ${names.join(', ')}`] : [];
