import { AppError, type PreparedPublish, type PublishAllowance } from '@belay/protocol';
import { confirmed } from '../confirmed.js';
import { clientFor, findSession, type Where } from '../connection.js';
import { oneLine, outputTo, type Output } from '../output.js';

interface PublishOptions extends Where {
  branch: string;
  message?: string;
  pr?: string | true;
  draft?: boolean;
  base?: string;
  to?: string;
  allow?: PublishAllowance[];
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** `belay publish`: shows what would be pushed, asks, and pushes exactly that. */
export async function publishSession(name: string, options: PublishOptions): Promise<void> {
  const client = clientFor(options);
  const { id } = await findSession(client, name);
  const target = {
    branch: options.branch,
    ...(options.base && { base: options.base }),
    ...(options.to && { url: options.to }),
    allow: options.allow ?? [],
  };
  const prepared = await client.sessions.preparePublish(id, target);
  const progress = outputTo(process.stderr);
  const output = outputTo(process.stdout);
  if (options.dryRun && options.json) return output.json(prepared);
  show(prepared, options.dryRun ? output : progress);
  const refusal = prepared.refusals.find(({ needs }) => !target.allow.includes(needs));
  if (refusal) throw new AppError('forbidden', `${refusal.message} Use --allow ${refusal.needs}.`);
  if (options.dryRun) return;
  const message = options.message ?? (await client.sessions.draftMessage(id)).message;
  if (options.message === undefined) progress.line(progress.style('dim', `\n${message}\n`));
  const withoutTerminal = 'Nothing was pushed. Use --yes to push without asking.';
  if (!options.yes && !(await confirmed('Push it?', withoutTerminal)))
    throw new AppError('cancelled', 'Nothing was pushed.');
  const title = options.pr === true ? (message.split('\n', 1)[0] ?? '') : options.pr;
  const body = message.split('\n').slice(1).join('\n').trim();
  const published = await client.sessions.publish(id, {
    ...target,
    id: prepared.id,
    message,
    pullRequest: title ? { title: title.slice(0, 250), body, draft: options.draft ?? false } : null,
  });
  if (options.json) output.json(published);
  else {
    const { commit, branch, url, branchPage, pullRequest } = published;
    progress.line(`Pushed ${commit.slice(0, 7)} to ${branch} of ${url}.`);
    if (pullRequest) {
      if (!pullRequest.isNew) progress.line('The pull request was open already:');
      output.line(oneLine(pullRequest.url));
    } else if (branchPage) output.line(oneLine(branchPage));
  }
  if (published.problem !== null)
    throw new AppError('rejected', `The branch was pushed, but: ${published.problem}`);
}

const mostShown = 50;

function show(prepared: PreparedPublish, output: Output): void {
  const { files, branch, url, into, base, isNewBranch } = prepared;
  const marks = { added: 'A', changed: 'M', deleted: 'D', renamed: 'R' } as const;
  for (const { path, from, status, added, removed } of files.slice(0, mostShown)) {
    const lines = added === null ? 'binary' : `+${added} −${removed ?? 0}`;
    const name = oneLine(from ? `${from} → ${path}` : path);
    output.line(`${marks[status]} ${name}  ${output.style('dim', lines)}`);
  }
  if (files.length > mostShown) output.line(`… and ${files.length - mostShown} more`);
  const isNew = isNewBranch ? `the new branch ${branch}, from ${base},` : `the branch ${branch}`;
  output.line(`One commit to ${oneLine(isNew)} of ${url}`);
  if (into !== url) output.line(`A pull request would go into ${into}`);
}
