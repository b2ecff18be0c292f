import { proofFile, type VerifierOutput } from '../model.js';
import { ownMarker } from '../suites/swe-bench/scripts.js';
import { proofHash } from '../suites/seal.js';

/** The proof of a verification that has run. */
export const proof = 'proof';

export const ownStart = ownMarker(proofHash(proof));

/** The output of an evaluation script whose tests printed this. */
export const instanceOutput = (tests: string, exitCode = 0): VerifierOutput => ({
  exitCode,
  output: `${ownStart}\n${tests}\n>>>>> End Test Output\n`,
  files: new Map([[proofFile, Buffer.from(proof)]]),
});
