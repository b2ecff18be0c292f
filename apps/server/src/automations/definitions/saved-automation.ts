import type { AutomationDefinition } from '@belay/protocol';

/** A stored automation. */
export interface SavedAutomation {
  id: string;
  name: string;
  version: number;
  definition: AutomationDefinition;
  /** The id of the caller whose rights its runs have. */
  owner: string;
  state: 'on' | 'paused' | 'broken';
  why: string | null;
  /** The file of a repository that it comes from. */
  file: { host: string; repository: string; path: string; commit: string } | null;
  nextAt: string | null;
  lastAt: string | null;
  created: string;
  updated: string;
}
