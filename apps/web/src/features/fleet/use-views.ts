import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { FleetFilter } from './fleet-order';

interface SavedView {
  name: string;
  filter: FleetFilter;
}

interface Views {
  views: readonly SavedView[];
  save(view: SavedView): void;
  forget(name: string): void;
}

/** Named fleet filters, stored in this browser. */
export const useViews = create<Views>()(
  persist(
    (set, get) => ({
      views: [],
      save: (view) =>
        set({ views: [...get().views.filter(({ name }) => name !== view.name), view] }),
      forget: (gone) => set({ views: get().views.filter(({ name }) => name !== gone) }),
    }),
    { name: 'belay.views' },
  ),
);
