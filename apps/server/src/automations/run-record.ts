import type {
  AutomationDefinition,
  ConsideredText,
  Occurrence,
  RunFindings,
  RunState,
} from '@belay/protocol';
import type { SavedAutomation } from './definitions/saved-automation.js';

/** A decision about a run: the checks in their order, up to the first that does not hold. */
export interface RunDecision {
  check: string;
  holds: boolean;
  why: string;
}

/** What came of a session, before anything is sent. */
export interface PublishedResult {
  tree: string | null;
  changedFiles: number;
  /** The check’s exit code; null without a check or if it did not come to its end. */
  checkExit: number | null;
  verdict: 'confirmed' | 'refuted' | 'inconclusive' | null;
  commit: string | null;
  pullRequest: { url: string; number: number; into: string } | null;
}

/** A stored run, with its JSON parsed. */
export interface RunRecord {
  id: string;
  automation: SavedAutomation;
  /** The definition of the version that it runs. */
  definition: AutomationDefinition;
  version: number;
  occurrence: Occurrence;
  eventKey: string;
  delivery: string | null;
  lane: string;
  subject: string;
  findings: RunFindings;
  decisions: RunDecision[];
  state: RunState;
  code: string | null;
  why: string | null;
  session: string | null;
  /** In millionths of a dollar. */
  reserved: number;
  spent: number;
  result: PublishedResult | null;
  created: string;
  started: string | null;
  ended: string | null;
}

/** What a run was given to work on, made by `trust/` from what the git host said. */
export interface RunMaterial {
  findings: RunFindings;
  /** The values for filter, lane key and branch name. */
  fields: Record<string, string | number | boolean | string[] | null>;
  /** The task’s parts after the definition’s own task: texts of writers, and quoted ones. */
  parts: string[];
  texts: ConsideredText[];
  /** What to clone; null for an empty workspace. */
  repository: { url: string; branch?: string; commit?: string } | null;
  /** Threads that replies may answer, by id. */
  threads: string[];
}

/** A run that is not begun, and why. */
export class RunRefusal extends Error {
  constructor(
    readonly state: 'skipped' | 'refused',
    readonly code: string,
    message: string,
    readonly decisions: RunDecision[] = [],
  ) {
    super(message);
  }
}
