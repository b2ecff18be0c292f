import { Injectable } from '@nestjs/common';
import type { ForgeUser } from '@belay/protocol';
import type { Forge, ForgePull, ForgeText, ForgeThread } from '../forges/forge.js';
import { PullChanges } from '../forges/pull-changes.js';
import type { RunRecord } from '../run-record.js';
import { isOfChecks } from './actors.js';
import type { DecisionList } from './decision-list.js';
import { hashOfGiven, type GivenText } from './given-text.js';
import { OwnOrigin } from './own-origin.js';
import { existing, type RunPlace } from './run-places.js';

/** The texts of a run, and what is known of its event by now. */
export interface RunTexts {
  /** The most important first, and the newest first among comments. */
  texts: GivenText[];
  /** The names of the checks that failed or passed. */
  names: string[];
  verdict: string | null;
}

interface Question {
  run: RunRecord;
  forge: Forge;
  place: RunPlace;
  decisions: DecisionList;
}

/** Reads the texts that an event is about from the git host, as they are now. */
@Injectable()
export class RunTextReader {
  constructor(
    private readonly own: OwnOrigin,
    private readonly changes: PullChanges,
  ) {}

  /** Throws `RunRefusal` for a text that was edited after its event, and for checks that do not say it. */
  async of(question: Question): Promise<RunTexts> {
    const { run, place } = question;
    if (isOfChecks(run.occurrence.event)) return this.#checks(question);
    if (!place.issue && !place.pull) return { texts: [], names: [], verdict: null };
    const subject = place.pull ?? place.issue;
    if (!subject) return { texts: [], names: [], verdict: null };
    const main = mainTexts(place);
    if (run.occurrence.comment === undefined) {
      assertSeen(question);
      assertUnedited(question, `${subject.title}\n${subject.body}`);
      const rest = await this.#conversation(question, null);
      return { texts: [...main, ...rest], names: [], verdict: null };
    }
    const { text, verdict } = await this.#saidBy(question, run.occurrence.comment);
    const rest = await this.#conversation(question, text.id);
    const said = given('comment', `The ${nameOf(run)} on #${subject.number}`, text);
    return { texts: [...main, { ...said, isMain: true }, ...rest], names: [], verdict };
  }

  /** The comment or review that the event is about; it must be the actor’s, and as it was then. */
  async #saidBy(
    question: Question,
    id: string,
  ): Promise<{ text: ForgeText; verdict: string | null }> {
    const { run, decisions } = question;
    const { actor, command, event, at } = run.occurrence;
    const found = await existing(() => this.#find(question, id), run, decisions);
    const { text } = found;
    if (actor === null || text.author?.id !== actor.id)
      throw decisions.refusal('refused', 'content', 'It was not written by the one who did it.');
    const isLater = run.occurrence.textSha256 === undefined && isAfter(text.updated, at);
    if (isLater) throw decisions.refusal('refused', 'edited', editedAfter(run));
    assertUnedited(question, text.body);
    if (event.endsWith('.command') && !beginsWith(text.body, command ?? ''))
      throw decisions.refusal('refused', 'edited', 'It does not begin with the command any more.');
    return found;
  }

  async #find(
    { run, forge, place }: Question,
    id: string,
  ): Promise<{ text: ForgeText; verdict: string | null }> {
    const number = place.pull?.number ?? place.issue?.number ?? 0;
    const isPull = place.pull !== null;
    if (run.occurrence.event === 'pull.reviewed') {
      const review = (await forge.reviews(number)).find((one) => one.id === id);
      if (review) return { text: review, verdict: review.verdict };
    }
    if (isPull) {
      const threads = await forge.threads(number);
      const inThread = threads.flatMap((one) => one.comments).find((one) => one.id === id);
      if (inThread) return { text: inThread, verdict: null };
    }
    return { text: await forge.comment({ number, isPull }, id), verdict: null };
  }

  async #conversation(question: Question, known: string | null): Promise<GivenText[]> {
    const { forge, place, run } = question;
    const { self } = await this.own.of(forge);
    const number = place.pull?.number ?? place.issue?.number ?? 0;
    const isPull = place.pull !== null;
    const isReview = /^pull\.(?:reviewed|commented|command)$/.test(run.occurrence.event);
    const [comments, reviews, threads] = await Promise.all([
      forge.comments({ number, isPull }),
      isPull && isReview ? forge.reviews(number) : [],
      isPull && isReview ? forge.threads(number) : [],
    ]);
    const change = await this.#change(question);
    const others = (text: ForgeText): boolean => text.id !== known && text.body.trim() !== '';
    const said = [
      ...comments.filter(others).map((one) => given('comment', `Comment on #${number}`, one)),
      ...reviews.filter(others).map((one) => given('review', `Review of #${number}`, one)),
    ].filter(({ author }) => author?.id !== self);
    const newest = said.toReversed();
    return [
      ...threads.filter(({ resolved }) => !resolved).flatMap((one) => threadTexts(one, self)),
      ...change,
      ...newest,
    ];
  }

  /**
   * What a pull request changes, for those who review it, and for all where nothing else of it can be read: of a fork. It is
   * of the commit that the run is about, which its branch may have left by now.
   */
  async #change({ run, place, decisions }: Question): Promise<GivenText[]> {
    const { pull, sha, base, repository, isFork } = place;
    if (!pull || sha === null || base === null || !repository) return [];
    if (!isFork && run.definition.out.review === undefined) return [];
    const patch = await this.changes.patchOf({ url: repository.url, sha, base });
    if (patch !== null) return [changeText(pull, patch)];
    if (!isFork) return [];
    const why = `The change of #${pull.number} cannot be compared with its base.`;
    throw decisions.refusal('refused', 'fork', why);
  }

  /** A red event is only a hint: the host’s list of all checks decides, and an empty one is neither green nor red. */
  async #checks({ run, forge, decisions }: Question): Promise<RunTexts> {
    const { event, sha = '' } = run.occurrence;
    const checks = await forge.checks(sha);
    if (checks.length === 0)
      throw decisions.refusal('skipped', 'checks', 'The commit has no checks.');
    if (checks.some(({ state }) => state === 'pending'))
      throw decisions.refusal('skipped', 'checks', 'Some checks still run.');
    const failed = checks.filter(({ state }) => state === 'failed');
    const wantsFailed = event === 'checks.failed';
    if (wantsFailed !== failed.length > 0)
      throw decisions.refusal(
        'skipped',
        'checks',
        wantsFailed ? 'No check failed.' : 'Some checks failed.',
      );
    decisions.holds('checks', `${failed.length} of ${checks.length} checks failed.`);
    const passed = checks.filter(({ state }) => state === 'passed');
    const names = (wantsFailed ? failed : passed).map(({ name }) => name.slice(0, 200));
    const texts = failed.map(({ name, summary, url }): GivenText => ({
      kind: 'checks',
      heading: 'A failed check',
      author: null,
      text: [name, url, lastLines(summary ?? '')].filter(Boolean).join('\n'),
      form: 'output',
      trust: 'data',
      isMain: true,
    }));
    return { texts, names, verdict: null };
  }
}

const maxLines = 200;
const lastLines = (text: string): string => text.split('\n').slice(-maxLines).join('\n');

function mainTexts({ issue, pull }: RunPlace): GivenText[] {
  const subject = pull ?? issue;
  if (!subject) return [];
  const [kind, name] = pull ? (['pull', 'Pull request'] as const) : (['issue', 'Issue'] as const);
  const heading = `${name} #${subject.number}`;
  const title = { ...given('title', `Title of ${heading}`, subject), text: subject.title };
  const both = [title, given(kind, heading, subject)].filter(({ text }) => text.trim() !== '');
  return both.map((one) => ({ ...one, isMain: true }));
}

const given = (
  kind: GivenText['kind'],
  heading: string,
  { author, body }: { author: ForgeUser | null; body: string },
): GivenText => ({
  kind,
  heading,
  author,
  text: body,
  form: 'markdown',
  trust: 'author',
  isMain: false,
});

/** What the server said in a thread is quoted: a model wrote it. */
const threadTexts = ({ id, path, line, comments }: ForgeThread, self: string): GivenText[] =>
  comments.map((comment) => ({
    ...given('review', `Thread ${JSON.stringify(id)}`, comment),
    text: `${JSON.stringify(path)}${line === null ? '' : `, line ${line}`}:\n${comment.body}`,
    trust: comment.author?.id === self ? 'data' : 'author',
    isMain: true,
    thread: id,
  }));

const changeText = ({ number, author }: ForgePull, patch: string): GivenText => ({
  kind: 'diff',
  heading: `The change of #${number}`,
  author,
  text: patch,
  form: 'output',
  trust: 'data',
  isMain: true,
});

function assertUnedited({ run, decisions }: Question, text: string): void {
  const { textSha256 } = run.occurrence;
  if (textSha256 !== undefined && textSha256 !== hashOfGiven(text))
    throw decisions.refusal('refused', 'edited', editedAfter(run));
}

/** Where strangers’ texts count, one that may have been changed since must not be what the actor wanted. */
function assertSeen({ run, decisions }: Question): void {
  if (run.occurrence.textChanged === true && run.definition.trust.content === 'quoted')
    throw decisions.refusal(
      'refused',
      'edited',
      `It was changed between its event and the look that found it: ${again(run)}.`,
    );
}

/** Hosts count in seconds, and not all by the same clock. */
const slackMs = 5_000;
const isAfter = (updated: string, at: string): boolean =>
  Date.parse(updated) > Date.parse(at) + slackMs;

const editedAfter = (run: RunRecord): string =>
  `It was edited after it was ${isLabel(run) ? 'labelled' : 'written'}: ${again(run)}.`;

const again = (run: RunRecord): string => (isLabel(run) ? 'label it again' : 'write it again');
const isLabel = ({ occurrence: { event } }: RunRecord): boolean => event.endsWith('.labelled');

const beginsWith = (body: string, command: string): boolean => {
  const [first = ''] = body.replace(/^\uFEFF/, '').split('\n', 1);
  const [prefix, word] = first.trim().split(/\s+/, 2);
  return prefix === '/belay' && word === command;
};

const nameOf = ({ occurrence: { event } }: RunRecord): string =>
  event === 'pull.reviewed' ? 'review' : event.endsWith('.command') ? 'command' : 'comment';
