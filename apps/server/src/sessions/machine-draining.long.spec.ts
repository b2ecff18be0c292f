import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./machine-draining.spec.js'));
