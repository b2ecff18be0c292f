import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ColdChanges } from '../storage/cold-changes.js';
import { lease } from '../storage/lease.js';
import type { BeforeLead, OnLead } from '../storage/on-lead.js';
import { Lead } from './lead.js';

const done: string[] = [];
const work = ['what others rely on', 'what is below', 'what is above'];

@Injectable()
class Below implements OnLead {
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
  beforeLead(): void {
    done.push('what others rely on');
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
  await module.init();
  return module.get(Lead);
}
beforeEach(() => void done.splice(0));
afterEach(() => lease.hold());

it('does the work of the only server when that starts, what is imported first', async () => {
  await started();
  expect(done).toEqual(['the start', ...work]);
});

it('does it once, when the server that stood by leads, with all that others have changed', async () => {
  lease.standBy();
  const lead = await started();
  expect(done).toEqual(['the start']);
  expect(() => lease.assertHeld()).toThrow('Another server');
  lease.hold();
  await Promise.all([lead.begin(), lead.begin()]);
  expect(done.slice(1)).toEqual(['the changes of others', ...work]);
});
