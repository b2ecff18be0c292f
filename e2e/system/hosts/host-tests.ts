import type { ContainerHost, ContainerSpec } from '@belay/containers';
import type { HostUser } from './host-user.js';

export interface TestedHost {
  /** A host as a process of this owner opens it; what others of the same owner have made is there. */
  open(owner: string): ContainerHost | Promise<ContainerHost>;
  /** Removes everything that an owner has left. */
  dispose(owner: string): Promise<void>;
  /** The default image, and one that knows nothing of Belay. */
  images: { default: string; other: string };
}

/** What the tests of one host share. */
export interface HostTests {
  /** Follows the host during all of them. */
  readonly user: HostUser;
  readonly images: TestedHost['images'];
  readonly owner: string;
  /** Another process of an owner. */
  open(of?: string): Promise<HostUser>;
  specOf(more?: Partial<ContainerSpec>): ContainerSpec;
}

/** Adds a test that is a variation of another one: `it`, or `itLong`. */
export type Further = (name: string, test: () => Promise<void>) => void;
