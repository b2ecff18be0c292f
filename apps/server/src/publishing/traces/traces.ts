import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { canonicalDigest, canonicalJson } from '@belay/proof';
import {
  AppError,
  agentTraceContent,
  belayVersion,
  changeStatement,
  errorFrom,
  mostLeftOut,
  type AgentTrace,
  type AgentTraceContent,
  type SignedEnvelope,
  type TraceContributor,
} from '@belay/protocol';
import { Config } from '../../config.js';
import { EventLog } from '../../logs/event-log.js';
import { Exports } from '../../sessions/exports.js';
import { ObjectStore } from '../../storage/object-store.js';
import type { PreparedPush } from '../publish-preparation.js';
import type { PushedFile } from '../pushed-files.js';
import { LineAuthors, type LineRange } from './line-authors.js';
import { stepCommits, type MadeLines } from './step-commits.js';
import { tracedSteps } from './traced-steps.js';

type TracedFile = AgentTraceContent['files'][number];
type LeftOut = AgentTraceContent['metadata']['io.belay']['left_out'][number];

/** For everything about one trace. */
const traceTimeoutMs = 30_000;
const maxFiles = 300;
const maxLines = 50_000;
const maxRanges = 10_000;

/** Records of Agent Trace about published commits: which of their lines were added by whom. */
@Injectable()
export class Traces {
  readonly #publicUrl: string | undefined;

  constructor(
    config: Config,
    private readonly log: EventLog,
    private readonly exports: Exports,
    private readonly objects: ObjectStore,
  ) {
    this.#publicUrl = config.publicUrl;
  }

  /**
   * Makes the trace of a change, and keeps it by the digest that it returns. Undefined if it cannot be made in time:
   * nothing is published later for its sake.
   */
  async make(
    session: string,
    prepared: PreparedPush,
    { start, signal }: { start: string; signal: AbortSignal },
  ): Promise<{ sha256: string } | undefined> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(traceTimeoutMs)]);
    try {
      const content = await this.#contentOf(session, prepared, { start, signal: limit });
      const sha256 = canonicalDigest(content);
      await this.objects.put(keyOf(sha256), Buffer.from(canonicalJson(content)));
      return { sha256 };
    } catch (error) {
      if (!signal.aborted && (limit.aborted || error instanceof AppError)) return undefined;
      throw error;
    }
  }

  /** The trace that a statement names. Throws `not_found`. */
  async of({ payload }: SignedEnvelope): Promise<AgentTrace> {
    const { data: statement } = changeStatement.safeParse(jsonOf(payload));
    const { trace } = statement?.predicate ?? {};
    const stored = trace && (await this.objects.open(keyOf(trace.sha256)));
    if (!statement || !stored)
      throw new AppError('not_found', 'There is no trace of the lines of this commit.');
    const chunks: Buffer[] = [];
    for await (const chunk of stored.content as AsyncIterable<Buffer>) chunks.push(chunk);
    const content = agentTraceContent.parse(JSON.parse(Buffer.concat(chunks).toString()));
    return { ...content, vcs: { type: 'git', revision: statement.subject[0].digest.gitCommit } };
  }

  async #contentOf(
    session: string,
    { shown, repository, tree }: PreparedPush,
    { start, signal }: { start: string; signal: AbortSignal },
  ): Promise<AgentTraceContent> {
    const steps = tracedSteps(await this.log.read(session, { after: 0 }));
    const trees = { repository, start, tree };
    const made = await stepCommits(steps, trees, { session, exports: this.exports, signal });
    const lines = new LineAuthors(repository, signal);
    const url = this.#publicUrl ? `${this.#publicUrl}/sessions/${session}` : undefined;
    const found: TracedFile[] = [];
    const leftOut: LeftOut[] = [];
    let ranges = 0;
    for (const file of shown.files.filter(({ status }) => status !== 'deleted')) {
      const { path } = file;
      const isFull = found.length >= maxFiles || ranges >= maxRanges;
      const why = isFull ? 'The trace is full.' : leftOutBecause(file);
      const between = { from: shown.parent, to: tree };
      const traced = why ?? (await tracedFile(file, { lines, made, between, url, signal }));
      if (typeof traced === 'string') {
        leftOut.push({ path: path.toWellFormed(), why: traced });
        continue;
      }
      if (traced.conversations.length > 0) found.push(traced);
      ranges += traced.conversations.reduce((sum, one) => sum + one.ranges.length, 0);
    }
    const { attribution, why } = made;
    return agentTraceContent.parse({
      version: '0.1.0',
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      tool: { name: 'belay', version: belayVersion },
      files: found,
      metadata: {
        'io.belay': {
          attribution,
          why: why === null ? null : why.toWellFormed(),
          left_out: leftOut.slice(0, mostLeftOut),
          left_out_files: leftOut.length,
        },
      },
    } satisfies AgentTraceContent);
  }
}

function leftOutBecause({ added }: PushedFile): string | undefined {
  if (added === null) return 'It is binary.';
  return added > maxLines ? `More than ${maxLines} of its lines were added.` : undefined;
}

/** The ranges of a file by contributor, or why it has none. */
async function tracedFile(
  file: PushedFile,
  {
    lines,
    made,
    between,
    url,
    signal,
  }: {
    lines: LineAuthors;
    made: MadeLines;
    between: { from: string; to: string };
    url: string | undefined;
    signal: AbortSignal;
  },
): Promise<TracedFile | string> {
  try {
    const added = await lines.added(file, between);
    const authored = made.head
      ? await lines.of(file, { at: made.head, lines: added })
      : added.map((range) => ({ ...range, commit: '' }));
    const by = new Map<string, { contributor: TraceContributor; ranges: LineRange[] }>();
    for (const { commit, start, end } of authored) {
      const contributor = made.contributors.get(commit) ?? made.rest;
      const key = canonicalJson(contributor);
      const one = by.get(key) ?? { contributor, ranges: [] };
      by.set(key, one);
      const last = one.ranges.at(-1);
      if (last && last.end === start - 1) last.end = end;
      else one.ranges.push({ start, end });
    }
    const conversations = [...by.values()].map(({ contributor, ranges }) => ({
      ...(url !== undefined && { url }),
      contributor,
      ranges: ranges.map(({ start, end }) => ({ start_line: start, end_line: end })),
    }));
    return { path: file.path.toWellFormed(), conversations };
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    return errorFrom(error).message;
  }
}

const keyOf = (sha256: string): string => `traces/${sha256}.json`;

function jsonOf(base64: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString());
  } catch {
    return undefined;
  }
}
