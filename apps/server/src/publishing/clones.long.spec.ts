import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./clones.spec.js'));
