/** What is looked up by key in maps that were joined: in the newest that has it. */
export class LayeredMap<K, V> {
  constructor(private readonly maps: readonly ReadonlyMap<K, V>[] = []) {}

  get(key: K): V | undefined {
    return this.maps.findLast((map) => map.has(key))?.get(key);
  }

  /** A small map that is added to a large one does not have it copied: there are a few maps, each larger than the next. */
  join(later: LayeredMap<K, V>): LayeredMap<K, V> {
    const maps = [...this.maps];
    for (const map of later.maps) {
      let last: ReadonlyMap<K, V> = map;
      for (let before = maps.at(-1); before && before.size <= 2 * last.size; before = maps.at(-1)) {
        last = new Map([...before, ...last]);
        maps.pop();
      }
      if (last.size) maps.push(last);
    }
    return new LayeredMap(maps);
  }
}
