import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./automations.store.spec.js'));
