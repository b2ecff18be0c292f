import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./waits.attacks.spec.js'));
