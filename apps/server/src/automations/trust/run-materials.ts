import { Injectable } from '@nestjs/common';
import {
  AppError,
  fieldValues,
  isForgeTrigger,
  runFindings,
  untrustedOutput,
  untrustedText,
  type FieldValues,
  type ForgeUser,
} from '@belay/protocol';
import type { Forge, ForgeLevel } from '../forges/forge.js';
import { Forges } from '../forges/forges.js';
import type { RunDecision, RunMaterial, RunRecord } from '../run-record.js';
import { Actors } from './actors.js';
import { DecisionList } from './decision-list.js';
import type { GivenText } from './given-text.js';
import { Permissions } from './permissions.js';
import { RunPlaces, type RunPlace } from './run-places.js';
import { RunTextReader, type RunTexts } from './run-text-reader.js';
import { textParts } from './text-parts.js';
import { fieldsOf } from './fields-of.js';

/** Of how many authors the host is asked; what others wrote counts as a stranger’s. */
const maxAuthors = 50;

interface TrustedMaterial {
  material: RunMaterial;
  decisions: RunDecision[];
}

/** Decides whether a run may begin and what it is given: all of it is asked from the git host, and nothing is changed. */
@Injectable()
export class RunMaterials {
  constructor(
    private readonly forges: Forges,
    private readonly actors: Actors,
    private readonly permissions: Permissions,
    private readonly places: RunPlaces,
    private readonly texts: RunTextReader,
  ) {}

  /** Throws `RunRefusal` with the decisions up to the first that does not hold, and the host’s `AppError`. */
  async of(run: RunRecord): Promise<TrustedMaterial> {
    const { on } = run.definition;
    const decisions = new DecisionList();
    if (!isForgeTrigger(on)) return withoutHost(run, decisions);
    const forge = this.forges.open(on.host, on.repository);
    const permission = await this.actors.check(run, forge, decisions);
    const place = await this.places.of(run, forge, decisions);
    const found = await this.texts.of({ run, forge, place, decisions });
    const { content } = run.definition.trust;
    const levels = await this.#levelsOf(forge, found.texts);
    const { parts, texts, threads } = textParts(found.texts, levels, content);
    const leftOut = texts.filter(({ used }) => used === 'left-out').length;
    decisions.holds(
      'content',
      `${texts.length - leftOut} texts are used, ${leftOut} are left out.`,
    );
    const findings = runFindings.parse({
      actor: run.occurrence.actor,
      permission,
      sha: place.sha,
      branch: place.branch,
      base: place.base,
      isFork: place.isFork,
      title: titleOf(found, levels),
      texts,
    });
    const fields = fieldsOf(run.occurrence, place, found);
    const { repository } = place;
    const material = { findings, fields, parts, texts, repository, threads };
    return { material, decisions: decisions.all };
  }

  /** Whether its actor may still begin it; the host is asked, whatever it said before. */
  async actorStillMay(run: RunRecord): Promise<boolean> {
    const { on } = run.definition;
    if (!isForgeTrigger(on)) return true;
    return this.actors.stillMay(run, this.forges.open(on.host, on.repository));
  }

  /** Null for texts without an author. */
  async #levelsOf(forge: Forge, texts: readonly GivenText[]): Promise<(ForgeLevel | null)[]> {
    const levels = new Map<string, ForgeLevel>();
    for (const { author } of texts) {
      if (author === null || levels.has(author.id)) continue;
      const level = levels.size < maxAuthors ? await this.#levelOf(forge, author) : 'none';
      levels.set(author.id, level);
    }
    return texts.map(({ author }) => (author ? (levels.get(author.id) ?? 'none') : null));
  }

  async #levelOf(forge: Forge, user: ForgeUser): Promise<ForgeLevel> {
    try {
      return await this.permissions.levelOf(forge, user);
    } catch (error) {
      if (error instanceof AppError && error.code === 'forbidden') return 'none';
      throw error;
    }
  }
}

/** Only of a writer: the title may become that of a pull request. */
function titleOf({ texts }: RunTexts, levels: readonly (ForgeLevel | null)[]): string | null {
  const at = texts.findIndex(({ kind }) => kind === 'title');
  const level = levels[at];
  const isWriter = level === 'write' || level === 'maintain' || level === 'admin';
  if (!isWriter) return null;
  const line = untrustedText(texts[at]?.text ?? '').text.replaceAll(/\s+/g, ' ');
  return line.trim().slice(0, 1_000) || null;
}

/** Times, addresses, sessions and users: what begins these acts for the automation’s owner. */
function withoutHost(run: RunRecord, decisions: DecisionList): TrustedMaterial {
  const { occurrence, definition } = run;
  decisions.holds('permission', 'It acts for its owner.');
  const { payload } = occurrence;
  const given = occurrence.event === 'url' && payload !== undefined ? [payloadText(payload)] : [];
  const { parts, texts } = textParts(
    given,
    given.map(() => null),
    'quoted',
  );
  const { on } = definition;
  const url = 'repository' in on ? on.repository : undefined;
  const place: RunPlace = {
    issue: null,
    pull: null,
    branch: null,
    sha: null,
    base: null,
    isFork: false,
    repository: url === undefined ? null : { url },
  };
  const fields = { ...payloadFields(payload), ...fieldsOf(occurrence, place) };
  const findings = runFindings.parse({ actor: occurrence.actor, texts });
  const { repository } = place;
  const material = { findings, fields, parts, texts, repository, threads: [] };
  return { material, decisions: decisions.all };
}

const payloadText = (payload: string): GivenText => ({
  kind: 'payload',
  heading: 'What was sent to the automation’s address',
  author: null,
  text: untrustedOutput(payload).text,
  form: 'output',
  trust: 'data',
  isMain: true,
});

const maxFields = 100;

/** The fields of a JSON object that a filter can compare; all others are only data. */
function payloadFields(payload: string | undefined): FieldValues {
  let read: unknown;
  try {
    read = JSON.parse(payload ?? '{}');
  } catch {
    return {};
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return {};
  const entries = Object.entries(read).slice(0, maxFields);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const parsed = fieldValues.safeParse({ value });
      return parsed.success && name !== '__proto__' ? [[name, parsed.data['value'] ?? null]] : [];
    }),
  );
}
