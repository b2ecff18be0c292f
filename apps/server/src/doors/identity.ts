import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { Role } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';

const saved = z.object({ token: z.string().min(20), viewerToken: z.string().min(20) });

/** The server's two tokens: made at the first start, kept where only this user can read them. */
@Injectable()
export class Identity {
  readonly token: string;
  readonly viewerToken: string;
  readonly cookie: string;
  private readonly file: string;

  constructor(config: Config) {
    this.file = join(config.data, 'server.json');
    // Cookies know no ports: two servers on one machine must not share one.
    this.cookie = `belay-${config.instance}`;
    const known = readSaved(this.file);
    this.token = known?.token ?? newToken();
    this.viewerToken = known?.viewerToken ?? newToken();
    this.save({});
  }

  /** Where the command line finds the server. */
  announce(url: string): void {
    this.save({ url, pid: process.pid });
  }

  roleOfToken(token: string): Role | undefined {
    if (same(token, this.token)) return 'person';
    return same(token, this.viewerToken) ? 'viewer' : undefined;
  }

  role({ authorization, cookie }: IncomingHttpHeaders): Role | undefined {
    const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    const token = bearer ?? cookieNamed(this.cookie, cookie);
    return token === undefined ? undefined : this.roleOfToken(token);
  }

  private save(more: { url?: string; pid?: number }): void {
    mkdirSync(join(this.file, '..'), { recursive: true, mode: 0o700 });
    const content = { ...more, token: this.token, viewerToken: this.viewerToken };
    const unfinished = `${this.file}.${process.pid}`;
    writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    chmodSync(unfinished, 0o600);
    renameSync(unfinished, this.file);
  }
}

const newToken = (): string => randomBytes(24).toString('base64url');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

function readSaved(file: string): z.output<typeof saved> | undefined {
  try {
    return saved.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    // Not there, or cut short by a full disk: new tokens are made.
    return undefined;
  }
}

function cookieNamed(name: string, header = ''): string | undefined {
  for (const part of header.split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}
