import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createClient } from '@belay/client';
import { assertTraceMatches, DoesNotHold, logMatches, verifiedStatement } from '@belay/proof';
import {
  agentTrace,
  AppError,
  evidenceTrailer,
  pluralText,
  publishedKeys,
  signedEnvelope,
  type AgentTrace,
  type ChangeStatement,
  type PublishedKey,
  type SignedEnvelope,
} from '@belay/protocol';
import type { z } from 'zod';
import { clientFor, serverUrl, type PrintOptions } from '../connection.js';
import { outputTo, printResult, singleLine } from '../output.js';
import { assertCommitMatches } from '../verify/assert-commit-matches.js';
import { CommitReader } from '../verify/commit-reader.js';
import { pullRequestRef } from '../verify/pull-request-ref.js';
import { repeatClaims } from '../verify/repeat-claims.js';
import { traceSentences } from '../verify/trace-sentences.js';

export interface VerifyOptions extends PrintOptions {
  keys?: string;
  trust?: string;
  log?: string;
  /** A file, or true for the one that the server has. */
  trace?: string | true;
  repo: string;
  rerun?: boolean;
}

/** Whether what was asked about holds; 2 means that it cannot be said. */
const codes = { holds: 0, doesNotHold: 1, unknown: 2 } as const;

const maxFileBytes = 4 * 2 ** 20;

/** `belay verify`: checks a statement about a commit; with files for all of it, without any server. Returns the exit code. */
export async function verifyStatement(what: string, options: VerifyOptions): Promise<number> {
  try {
    const { statement, trace, checked } = await verified(what, options);
    const [{ digest }] = statement.subject;
    const commit = digest.gitCommit;
    const said = { statement: statement.predicate, ...(trace && { trace }) };
    const result = { holds: true, commit, checked, ...said };
    printResult(options, result, `The statement about the commit ${commit} holds.`, ...checked);
    return codes.holds;
  } catch (error) {
    if (!(error instanceof DoesNotHold || error instanceof AppError)) throw error;
    const isRefuted = error instanceof DoesNotHold;
    const verdict = isRefuted ? 'It does not hold' : 'It cannot be said whether it holds';
    const why = { holds: isRefuted ? false : null, why: error.message };
    if (options.json) printResult(options, why);
    else outputTo(process.stderr).line(`${verdict}: ${singleLine(error.message, Infinity)}`);
    return isRefuted ? codes.doesNotHold : codes.unknown;
  }
}

async function verified(
  what: string,
  options: VerifyOptions,
): Promise<{ statement: ChangeStatement; trace: AgentTrace | undefined; checked: string[] }> {
  const request = pullRequestRef(what);
  if (!request && /^https?:\/\//.test(what))
    throw new AppError(
      'invalid_input',
      `${what} is not the address of a pull or merge request. Name one, such as https://github.com/OWNER/REPOSITORY/pull/1, or fetch its commit and name that.`,
    );
  const commits = request
    ? await CommitReader.fetch(request)
    : await CommitReader.open(options.repo);
  try {
    const file = isFile(what) ? readJson(what, signedEnvelope, 'a signed statement') : undefined;
    const asked = file ? undefined : await commitOf(commits, request ? 'HEAD' : what);
    const envelope = file ?? (await fetchedEnvelope(commits, asked ?? '', options));
    const { statement, key } = verifiedStatement(envelope, await keysOf(options));
    const [{ digest }] = statement.subject;
    const commit = asked ?? (await commitOf(commits, digest.gitCommit));
    assertCommitMatches(await commits.read(commit), statement);
    const trace = await checkedTrace(statement, options);
    const checked = [
      `It was signed with the key ${key.kid}.`,
      'The commit, its tree, its parent and its changes are those of the statement.',
      ...otherCommits(statement),
      ...automationSentence(statement),
      await logSentence(options.log, statement),
      rerunSentence(statement),
      ...traceSentences(statement, trace),
    ];
    if (options.rerun) {
      outputTo(process.stderr).line('Running the claims again…');
      checked.push(await repeatClaims(statement, options));
    }
    return { statement, trace, checked };
  } finally {
    await commits.close();
  }
}

async function commitOf(commits: CommitReader, name: string): Promise<string> {
  const commit = await commits.find(name);
  if (commit) return commit;
  throw new AppError(
    'invalid_input',
    `There is no file and no commit ${name} here. Fetch it, or name a clone with --repo FOLDER.`,
  );
}

async function fetchedEnvelope(
  commits: CommitReader,
  commit: string,
  options: VerifyOptions,
): Promise<SignedEnvelope> {
  const id = (await commits.read(commit)).evidence.at(-1);
  if (id === undefined)
    throw new AppError(
      'not_found',
      `There is no statement for ${commit.slice(0, 12)}: its message has no line ${evidenceTrailer}, which each commit has that Belay published.`,
    );
  return clientFor(options).proof.evidence(id);
}

/** Those of a file, of a server that the user trusts by name, or of the server that the user works with. */
async function keysOf({ keys, trust, ...where }: VerifyOptions): Promise<PublishedKey[]> {
  if (keys !== undefined) return readJson(keys, publishedKeys, 'a key set').keys;
  const url = serverUrl(trust === undefined ? where : { url: trust });
  return (await createClient({ url, agent: 'belay-cli' }).proof.keys()).keys;
}

async function logSentence(file: string | undefined, { predicate }: ChangeStatement) {
  const { log } = predicate;
  if (file === undefined) return 'Its log was not checked: name it with --log FILE.';
  if (!isFile(file)) throw new AppError('invalid_input', `There is no file ${file}.`);
  const isShown = await logMatches(linesOf(file), predicate);
  const later =
    log.chainedFrom > 1 ? ` Events 1 to ${log.chainedFrom - 1} were chained later.` : '';
  const observed = isShown ? ' It says what the statement says.' : ' Its contents are hidden.';
  return `The log is the one that the statement saw, up to event ${log.seq}.${observed}${later}`;
}

/** The trace of a file or of the server; undefined if none was asked for. */
async function checkedTrace(
  statement: ChangeStatement,
  { trace: given, ...where }: VerifyOptions,
): Promise<AgentTrace | undefined> {
  if (given === undefined) return undefined;
  const trace =
    given === true
      ? await fetchedTrace(statement, where)
      : readJson(given, agentTrace, 'a trace of the form Agent Trace 0.1.0');
  assertTraceMatches(trace, statement);
  return trace;
}

async function fetchedTrace(
  { predicate: { record } }: ChangeStatement,
  where: PrintOptions,
): Promise<AgentTrace> {
  const bytes = await clientFor(where).proof.trace(record.sha256);
  const { data } = agentTrace.safeParse(jsonOf(Buffer.from(bytes).toString()));
  if (data) return data;
  throw new AppError(
    'unavailable',
    'The trace of the server is of another form. Use a newer belay.',
  );
}

function rerunSentence({ predicate: { reruns } }: ChangeStatement): string {
  if (!reruns) return 'The server has not run the change again.';
  const each = reruns.claims.map(({ claim, verdict }) => `${claim} ${verdict}`).join(', ');
  return `The server ran ${pluralText(reruns.claims.length, 'claim')} again: ${each}.`;
}

function automationSentence({ predicate: { automation } }: ChangeStatement): string[] {
  if (!automation) return [];
  const { name, version, run, event, actor } = automation;
  const by = actor ? ` of ${actor.name} (${actor.id})` : '';
  const said = `The automation ${name} (version ${version}) published it in its run ${run}, which began with ${event}${by}.`;
  return [singleLine(said, Infinity)];
}

/** A pull request may contain commits that nobody made a statement about. */
function otherCommits({ predicate: { change } }: ChangeStatement): string[] {
  const { base, parent } = change;
  if (base.gitCommit === parent.gitCommit) return [];
  return [`It follows ${parent.gitCommit.slice(0, 12)}, of which the statement says nothing.`];
}

/** Not by `readline`, which also divides lines at U+2028. */
async function* linesOf(file: string): AsyncGenerator<string, void> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

function readJson<T extends z.ZodType>(file: string, schema: T, kind: string): z.output<T> {
  if (!isFile(file)) throw new AppError('invalid_input', `There is no file ${file}.`);
  const isSmall = statSync(file).size <= maxFileBytes;
  const { data } = schema.safeParse(isSmall ? jsonOf(readFileSync(file, 'utf8')) : undefined);
  if (data !== undefined) return data;
  throw new AppError('invalid_input', `${file} is not ${kind}.`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
