// The client of oapi-codegen: lists, starts, follows and reads a failure.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"belay.test/oapi/client"
)

func main() {
	ctx := context.Background()
	authorized := client.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("BELAY_TOKEN"))
		return nil
	})
	sessions, err := client.NewClientWithResponses(os.Getenv("BELAY_URL"), authorized)
	check(err)
	before, err := sessions.SessionsListWithResponse(ctx, &client.SessionsListParams{})
	check(err)
	model := os.Getenv("BELAY_MODEL")
	approvals := client.CreateSessionApprovalsAuto
	wanted := client.CreateSession{Task: "Say hello", Model: &model, Approvals: &approvals}
	made, err := sessions.SessionsCreateWithResponse(ctx, &client.SessionsCreateParams{}, wanted)
	check(err)
	assert(made.JSON201 != nil, made.Status())
	after, err := sessions.SessionsListWithResponse(ctx, &client.SessionsListParams{})
	check(err)
	assert(len(*after.JSON200) == len(*before.JSON200)+1, "The new session is not in the list.")
	var last int64
	var wait float64 = 20
	ended := false
	for deadline := time.Now().Add(2 * time.Minute); !ended && time.Now().Before(deadline); {
		page, err := sessions.SessionsEventsWithResponse(ctx, made.JSON201.Id,
			&client.SessionsEventsParams{After: &last, Wait: &wait})
		check(err)
		for _, event := range *page.JSON200 {
			assert(event.Seq == last+1, "An event is missing.")
			last = event.Seq
			if event.Action == "state" {
				switch event.Args["state"] {
				case "finished", "failed", "limited", "stopped":
					ended = true
				}
			}
		}
	}
	assert(ended, "The session has not ended.")
	failure, err := sessions.SessionsGetWithResponse(ctx, "none")
	check(err)
	problem := failure.ApplicationproblemJSON404
	assert(problem != nil && problem.Code == "not_found", "The failure has no code.")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func assert(holds bool, sentence string) {
	if !holds {
		log.Fatal(sentence)
	}
}
