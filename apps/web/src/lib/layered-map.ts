/** A map of joined maps. A lookup returns the value of the newest map with the key. */
export class LayeredMap<K, V> {
  constructor(private readonly maps: readonly ReadonlyMap<K, V>[] = []) {}

  /** A map that is not joined yet. */
  static of<K, V>(map: ReadonlyMap<K, V>): LayeredMap<K, V> {
    return new LayeredMap(map.size > 0 ? [map] : []);
  }

  get(key: K): V | undefined {
    return this.maps.findLast((map) => map.has(key))?.get(key);
  }

  /**
   * Joins without copying large maps for small additions: each map stays more than twice as large
   * as the next, so there are only a few.
   */
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
