/** One line for each step of the preparation, with its time; quick steps that had nothing to do stay silent. */
export async function step(name, work) {
  const begin = performance.now();
  const elapsed = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  let said = false;
  /** Says what takes long, once, before it is done. */
  const say = (what) => {
    said = true;
    console.error(`· ${name}: ${what}…`);
  };
  try {
    const answer = await work(say);
    console.error(`✓ ${name}${said ? ' ready' : ''} (${elapsed()})`);
    return answer;
  } catch (error) {
    console.error(`✗ ${name} (${elapsed()})`);
    throw error;
  }
}

/** A sentence for the person at the terminal; anything else that is thrown is a fault of these scripts. */
export class Instruction extends Error {}
