import {
  AppError,
  claimText,
  reproduction as reproductionSchema,
  type PreparedPublish,
  type PublishAllowance,
  type PublishedChange,
  type Reproduction,
} from '@belay/protocol';
import { confirmed } from '../confirmed.js';
import { clientFor, findSession, type PrintOptions } from '../connection.js';
import { outputTo, singleLine, type LineOutput } from '../output.js';

interface PublishOptions extends PrintOptions {
  branch: string;
  message?: string;
  pr?: string | true;
  draft?: boolean;
  base?: string;
  to?: string;
  allow?: PublishAllowance[];
  reproduce?: string;
  testFile?: string[];
  expect?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** `belay publish`: shows what would be pushed, asks, and pushes exactly that. */
export async function publishSession(name: string, options: PublishOptions): Promise<void> {
  const { branch, base, to: url, allow = [], draft = false } = options;
  const reproduction = reproductionOf(options);
  const client = clientFor(options);
  const { id } = await findSession(client, name);
  const target = { branch, base, url, allow };
  const prepared = await client.sessions.preparePublish(id, target);
  const progress = outputTo(process.stderr);
  const output = outputTo(process.stdout);
  if (options.dryRun && options.json) return output.json(prepared);
  show(prepared, options.dryRun ? output : progress);
  assertAllowed(prepared, allow);
  if (options.dryRun) return;
  const message = options.message ?? (await client.sessions.draftMessage(id)).message;
  if (options.message === undefined) progress.line(progress.style('dim', `\n${message}\n`));
  const withoutTerminal = 'Nothing was pushed. Use --yes to push without asking.';
  if (!options.yes && !(await confirmed('Push it?', withoutTerminal)))
    throw new AppError('cancelled', 'Nothing was pushed.');
  const pullRequest = options.pr ? pullRequestOf(message, options.pr, draft) : null;
  const request = { ...target, id: prepared.id, message, pullRequest, reproduction };
  if (reproduction) progress.line('Running the test again…');
  const published = await client.sessions.publish(id, request);
  if (options.json) output.json(published);
  else report(published, { progress, output });
  if (published.problem !== null)
    throw new AppError('rejected', `The branch was pushed, but: ${published.problem}`);
}

function assertAllowed({ refusals }: PreparedPublish, allow: readonly PublishAllowance[]): void {
  const refusal = refusals.find(({ needs }) => !allow.includes(needs));
  if (refusal) throw new AppError('rejected', `${refusal.message} Use --allow ${refusal.needs}.`);
}

/** Throws `invalid_input` unless all of a reproduction is given, or none. */
function reproductionOf({ reproduce, testFile, expect }: PublishOptions): Reproduction | null {
  const given = [reproduce, testFile, expect].filter((one) => one !== undefined);
  if (given.length === 0) return null;
  const parsed = reproductionSchema.safeParse({
    command: reproduce,
    files: testFile,
    expects: expect,
  });
  if (parsed.success) return parsed.data;
  throw new AppError(
    'invalid_input',
    'Give --reproduce with a command, --test-file with its test files, and --expect with at least 8 characters that it prints where it fails.',
  );
}

/** The title defaults to the message’s first line; the rest is the text. */
function pullRequestOf(message: string, given: string | true, draft: boolean) {
  const [first = '', ...rest] = message.split('\n');
  const title = given === true ? first : given;
  return title ? { title: title.slice(0, 250), body: rest.join('\n').trim(), draft } : null;
}

function report(
  { commit, branch, url, branchPage, pullRequest, reruns }: PublishedChange,
  { progress, output }: { progress: LineOutput; output: LineOutput },
): void {
  progress.line(`Pushed ${commit.slice(0, 7)} to ${branch} of ${url}.`);
  for (const claim of reruns?.claims ?? []) progress.line(singleLine(claimText(claim), Infinity));
  if (pullRequest && !pullRequest.isNew) progress.line('The pull request is already open:');
  const page = pullRequest?.url ?? branchPage;
  if (page) output.line(singleLine(page));
}

const mostShown = 50;

function show(prepared: PreparedPublish, output: LineOutput): void {
  const { files, branch, url, into, base, isNewBranch } = prepared;
  const marks = { added: 'A', changed: 'M', deleted: 'D', renamed: 'R' } as const;
  for (const { path, from, status, added, removed } of files.slice(0, mostShown)) {
    const lines = added === null ? 'binary' : `+${added} −${removed ?? 0}`;
    const name = singleLine(from ? `${from} → ${path}` : path, Infinity);
    output.line(`${marks[status]} ${name}  ${output.style('dim', lines)}`);
  }
  if (files.length > mostShown) output.line(`… and ${files.length - mostShown} more`);
  const isNew = isNewBranch ? `the new branch ${branch}, from ${base},` : `the branch ${branch}`;
  output.line(`One commit to ${singleLine(isNew)} of ${url}`);
  if (into !== url) output.line(`A pull request would target ${into}`);
}
