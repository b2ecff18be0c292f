import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./audit-log.spec.js'));
