import { liveList } from './live-list';
import { queryClient } from './query-client';

const one = (version: number, id = 'a') => ({ id, version });

describe('a live list', () => {
  let answer: (list: ReturnType<typeof one>[]) => void;
  const { query, put } = liveList({
    name: 'things',
    list: () => new Promise<ReturnType<typeof one>[]>((resolve) => (answer = resolve)),
    version: ({ version }) => version,
  });
  const known = () => queryClient.getQueryData(query.queryKey);
  afterEach(() => queryClient.clear());

  it('keeps a notice that arrived while an older list was loading', async () => {
    const asked = queryClient.fetchQuery(query);
    put([{ id: 'a', summary: one(2) }]);
    put([{ id: 'new', summary: one(1, 'new') }]);
    answer([one(1)]);
    await asked;
    expect(known()).toEqual([one(2), one(1, 'new')]);
  });

  it('ignores a late notice and keeps removed items removed', async () => {
    const asked = queryClient.fetchQuery(query);
    put([
      { id: 'a', summary: one(1) },
      { id: 'b', summary: null },
    ]);
    answer([one(3), one(1, 'b')]);
    await asked;
    expect(known()).toEqual([one(3)]);
    put([{ id: 'a', summary: one(2) }]);
    expect(known()).toEqual([one(3)]);
    put([{ id: 'a', summary: null }]);
    expect(known()).toEqual([]);
  });
});
