package main

import (
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Yours, in one transaction: INSERT INTO events (id, event) VALUES ($1, $2) ON CONFLICT DO NOTHING, and likewise each key
// by reference, product and key id.
func saveOnce(id string, event []byte) error { panic("not written yet") }

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("DELIVERY_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /events", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		} else if webhook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusUnauthorized)
		} else if saveOnce(r.Header.Get("webhook-id"), body) != nil {
			w.WriteHeader(http.StatusInternalServerError)
		} else {
			w.WriteHeader(http.StatusNoContent) // only after the commit
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:8088", nil))
}
