import { AppError, type ForgeSourceInfo } from '@belay/protocol';
import { confirmed } from '../confirmed.js';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo, printResult } from '../output.js';
import { printList } from '../print-list.js';
import { sourceParts } from '../source-parts.js';

/** `belay automations sources`. */
export async function listSources(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).automations.sources(), options, {
    empty: 'No repository is followed. Follow one: belay automations connect github.com/acme/api',
    row: (source) => [
      nameOf(source),
      source.webhook ? 'webhook' : 'polling',
      `as ${source.self}`,
      source.trustedBy === null ? '' : `its files count, by ${source.trustedBy}`,
      source.problem ?? '',
    ],
  });
}

/** `belay automations connect`. */
export async function connectSource(
  given: string,
  { trustFiles, ...options }: PrintOptions & { trustFiles?: boolean },
): Promise<void> {
  const { host, path: repository } = sourceParts(given);
  const body = { host, repository, ...(trustFiles === true && { trustFiles }) };
  const source = await clientFor(options).automations.connect(body);
  printResult(
    options,
    source,
    `${nameOf(source)} is followed as ${source.self}.`,
    ...deliveryWords(source),
    ...(source.trustedBy === null
      ? []
      : ['Definitions in .belay/automations/ of its default branch count.']),
    ...(source.problem === null ? [] : [source.problem]),
  );
}

function deliveryWords({
  webhook,
  hookUrl,
  secret,
}: ForgeSourceInfo & { secret: string | null }): string[] {
  if (webhook) return ['Its webhook tells of events at once, and polling finds what it misses.'];
  if (hookUrl === null)
    return [
      'This server has no public address (BELAY_PUBLIC_URL), so its events are found by polling.',
    ];
  if (secret === null) return ['Its events are found by polling.'];
  return [
    'Its events are found by polling, because the token may not make a webhook. To make one by hand:',
    `  URL     ${hookUrl}`,
    `  secret  ${secret}  (shown only now)`,
    '  type    JSON',
  ];
}

/** `belay automations disconnect`. Returns the exit code: 1 if the user does not confirm. */
export async function disconnectSource(
  given: string,
  { yes, ...options }: PrintOptions & { yes?: boolean },
): Promise<number> {
  const client = clientFor(options);
  const sources = await client.automations.sources();
  const source = sources.find((one) => one.id === given || nameOf(one) === nameIn(given));
  if (!source)
    throw new AppError('not_found', `${given} is not followed. See: belay automations sources`);
  const question = `Automations learn of nothing more in ${nameOf(source)}. Disconnect it?`;
  if (
    !yes &&
    !(await confirmed(question, `Confirm with --yes: ${nameOf(source)} is disconnected.`))
  ) {
    outputTo(process.stderr).line('Nothing was changed.');
    return 1;
  }
  await client.automations.disconnect(source.id);
  printResult(options, { disconnected: source.id }, `${nameOf(source)} is no longer followed.`);
  return 0;
}

const nameOf = ({ host, repository }: Pick<ForgeSourceInfo, 'host' | 'repository'>): string =>
  `${host}/${repository}`;

function nameIn(given: string): string {
  const { host, path } = sourceParts(given);
  return `${host}/${path}`;
}
