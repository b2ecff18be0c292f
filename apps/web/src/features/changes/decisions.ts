import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { DiffedFile } from './diffed-files';

export interface Marks {
  /** By session. */
  marks: Record<string, string[]>;
  toggle(session: string, mark: string): void;
}

export const marksStore = (name: string) =>
  create<Marks>()(
    persist(
      (set) => ({
        marks: {},
        toggle: (session, mark) =>
          set(({ marks }) => {
            const now = marks[session] ?? [];
            const next = now.includes(mark) ? now.filter((each) => each !== mark) : [...now, mark];
            return { marks: { ...marks, [session]: next } };
          }),
      }),
      { name },
    ),
  );

/** Accepted hunks, by their text: a hunk that changes afterwards is undecided again. */
export const useAccepted = marksStore('belay.accepted');

/** Files that the user marked as viewed, by their `viewedMark`. */
export const useViewed = marksStore('belay.viewed');

/** Changes of the same size that differ only after this many characters have the same mark. */
const mostHashed = 20_000;

/** Identifies a file with its current changes: if they change, it no longer counts as viewed. */
export function viewedMark(file: DiffedFile): string {
  const mark = marks.get(file) ?? markOf(file);
  marks.set(file, mark);
  return mark;
}

const marks = new WeakMap<DiffedFile, string>();

function markOf({ path, added, removed, part = '' }: DiffedFile): string {
  let hash = part.length;
  const end = Math.min(part.length, mostHashed);
  for (let at = 0; at < end; at += 1) hash = (Math.imul(hash, 31) + part.charCodeAt(at)) | 0;
  return `${path}\n${added} ${removed} ${hash}`;
}
