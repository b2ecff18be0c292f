import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { labels } from '@belay/containers';
import { prepared, removeSandboxes } from '@belay/testkit';
import { itLong } from '@belay/testing';
import { describeHost } from './describe-host.js';
import { dockerHostFor } from './docker-host-for.js';

/** Everything of this test has it as a label, by which what is left is removed. */
const data = mkdtempSync(join(tmpdir(), 'hosts-'));

describeHost(
  'the Docker Engine as a host of containers',
  () => ({
    images: { default: prepared('BELAY_TEST_IMAGE'), other: prepared('BELAY_TEST_DEBIAN') },
    open: (instance) => dockerHostFor(instance, { folder: data, labels: { [labels.data]: data } }),
    dispose: () => removeSandboxes(data),
  }),
  itLong,
);
