import { Injectable } from '@nestjs/common';
import { Evidence } from '../proof/evidence.js';
import { claimedBlocks, proofBlock, provenCommit, type ProvenCommit } from './proof-block.js';

const mostEarlier = 10;
/** A text with more of them was not left by this server. */
const mostClaimed = 5;

/** What pull requests say about commits that this server made, after further ones were pushed. */
@Injectable()
export class ProofBlocks {
  constructor(private readonly evidence: Evidence) {}

  /** Undefined for a commit that this server says nothing about. */
  async of(commit: string): Promise<string | undefined> {
    const proven = await this.#proven(commit);
    return proven && proofBlock([proven]);
  }

  /**
   * The text with a block about this commit, too: the newest one at its top. All around it stays byte for byte. Undefined
   * if exactly one block of the commit’s branch, as this server writes it, is not in the text.
   */
  async renewed(body: string, commit: string): Promise<string | undefined> {
    const added = await this.#proven(commit);
    const claimed = claimedBlocks(body);
    if (!added || claimed.length > mostClaimed) return undefined;
    const { branch } = added.record.change;
    const blocks = await Promise.all(
      claimed.map(async ({ text, commits, ...place }) => ({
        ...place,
        isCrlf: text.includes('\r\n'),
        said: await this.#said(text.replaceAll('\r\n', '\n'), commits, branch),
      })),
    );
    const [own, ...others] = blocks.filter(({ said }) => said !== undefined);
    if (!own?.said || others.length > 0) return undefined;
    const earlier = own.said.filter((one) => one.commit !== commit);
    const [newest = added, ...rest] = [added, ...earlier].toSorted((a, b) =>
      b.record.made.localeCompare(a.record.made),
    );
    const text = proofBlock([newest, ...rest.slice(0, mostEarlier)]);
    // Hosts’ pages end the lines of what is edited there so.
    const block = own.isCrlf ? text.replaceAll('\n', '\r\n') : text;
    return body.slice(0, own.from) + block + body.slice(own.to);
  }

  /** The commits of a block that is exactly what this server says about them. */
  async #said(
    text: string,
    commits: string[],
    branch: string,
  ): Promise<ProvenCommit[] | undefined> {
    if (commits.length > mostEarlier + 1) return undefined;
    const found = await Promise.all(commits.map((commit) => this.#proven(commit)));
    const said = found.filter((one) => one?.record.change.branch === branch);
    const [newest, ...earlier] = said.filter((one) => one !== undefined);
    return newest && proofBlock([newest, ...earlier]) === text ? [newest, ...earlier] : undefined;
  }

  async #proven(commit: string): Promise<ProvenCommit | undefined> {
    const envelope = await this.evidence.ofCommit(commit);
    return envelope && provenCommit(envelope);
  }
}
