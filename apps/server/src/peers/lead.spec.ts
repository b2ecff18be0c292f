import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ColdChanges } from '../storage/cold-changes.js';
import { lease } from '../storage/lease.js';
import type { BeforeLead, OnLead, OnWork } from '../storage/on-lead.js';
import { Lead } from './lead.js';

const done: string[] = [];
const lead = ['what others rely on', 'what each does', 'what is below', 'what is above'];

@Injectable()
class Below implements OnWork, OnLead {
  async onWork(): Promise<void> {
    await Promise.resolve();
    done.push('what each does');
  }
  async onLead(): Promise<void> {
    await Promise.resolve();
    done.push('what is below');
  }
}
@Injectable()
class Above implements BeforeLead, OnLead {
  onApplicationBootstrap(): void {
    done.push('the start');
  }
  beforeLead(hasWorked: boolean): void {
    done.push(hasWorked ? 'what others rely on, after work' : 'what others rely on');
  }
  onLead(): void {
    done.push('what is above');
  }
}
@Module({ providers: [Below], exports: [Below] })
class BelowModule {}
@Module({ imports: [BelowModule], providers: [Above, { provide: 'an alias', useExisting: Above }] })
class AboveModule {}

async function started(): Promise<Lead> {
  const changes = { readAll: () => Promise.resolve(void done.push('the changes of others')) };
  const module = await Test.createTestingModule({
    imports: [AboveModule],
    providers: [Lead, { provide: ColdChanges, useValue: changes }],
  }).compile();
  module.get(Lead).beforeWork(async () => {
    await Promise.resolve();
    done.push('the beat');
  });
  await module.init();
  return module.get(Lead);
}
beforeEach(() => void done.splice(0));
afterEach(() => lease.hold());

it('does the work of the only server when that starts, what is imported first', async () => {
  await started();
  expect(done).toEqual(['the start', 'the beat', ...lead]);
});

it('does it once, when the server that stood by leads, with all that others have changed', async () => {
  lease.standBy();
  const server = await started();
  expect(done).toEqual(['the start', 'the beat', 'what each does']);
  expect(() => lease.assertHeld()).toThrow('Another server');
  lease.hold();
  await Promise.all([server.begin(), server.begin()]);
  const rest = ['what others rely on, after work', 'what is below', 'what is above'];
  expect(done.slice(3)).toEqual(['the changes of others', ...rest]);
});
