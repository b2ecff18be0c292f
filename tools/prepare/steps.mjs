/**
 * Runs a step of the preparation and prints one line with its duration. `say` announces what will
 * take long, at most once.
 * @template T
 * @param {string} name
 * @param {(say: (what: string) => void) => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(name, work) {
  const begin = performance.now();
  const elapsed = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  let reported = false;
  const say = (what) => {
    reported = true;
    console.error(`· ${name}: ${what}…`);
  };
  try {
    const answer = await work(say);
    console.error(`✓ ${name}${reported ? ' ready' : ''} (${elapsed()})`);
    return answer;
  } catch (error) {
    console.error(`✗ ${name} (${elapsed()})`);
    throw error;
  }
}

/** An error whose message tells the user what to do; any other error is a bug of these scripts. */
export class Instruction extends Error {}
